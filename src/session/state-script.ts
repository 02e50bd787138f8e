// The scripts that make a session's bash save its state. bash saves its state itself, or forks a saver: a copy of bash
// that writes the state while bash takes the next command. A session with many variables needs a saver, because bash
// lists n variables in a time proportional to n squared. Pure.
import { type CommandPlan, framed, type HarnessContext, type SuspendedSettings } from "./session-harness.ts";

/** Where and how bash saves its state. */
export interface SavePlan {
  /** The last command that the state includes. */
  readonly number: number;
  /** The index of the file. */
  readonly file: number;
  readonly suspendedSettings: SuspendedSettings;
  /** If bash forks a saver: the descriptors of bash that the saver must not hold open. */
  readonly saverMustClose?: readonly number[];
}

/** Sent after the report, so that bash saves its state while the caller reads the result. */
export function saveMessage(
  context: HarnessContext,
  env: CommandPlan["env"],
  { saverMustClose, ...save }: SavePlan,
): string {
  const names = Object.keys(env).join(" ");
  const restore = names === "" ? "" : `\\builtin unset -v ${names};\\builtin . ${context.hiddenFile};`;
  const script = saverMustClose
    ? `{ ${restore}${unexport(context)}${unnumber(context)}} >/dev/null 2>&1;${forkScript(context, save, saverMustClose)}`
    : `{ ${restore}${saveScript(context, save)}} >/dev/null 2>&1`;
  return framed(context.variable, `${script}\n`);
}

/** The script that makes bash save its state and report that. */
export function saveScript(context: HarnessContext, save: SavePlan): string {
  const { marks, variable, token, toReport, errorsToReport, stateFile } = context;
  const { number, file } = save;
  return [
    `${unexport(context)}${variable}[2]=$EPOCHREALTIME;`,
    // Do not truncate the file: ext4 would then write it to disk at once, which takes longer than everything else. Text
    // after the end mark belongs to an earlier state. If a write fails, bash's error message precedes the report and
    // shows that the state is not whole: `declare` has no exit code for a failed write.
    `{ ${partsScript(context, save, `"$BASHOPTS" "$SHELLOPTS"`)}`,
    `\\builtin printf '${marks.end}${number}\\n';} ${errorsToReport} 1<>${stateFile(file)};`,
    `\\builtin printf 's\\000${token}\\000${number}\\000%s\\000%s\\000\\n' "\${${variable}[2]}" "$EPOCHREALTIME" ${toReport};`,
  ].join("");
}

/**
 * A subshell forks the saver, reports its PID and exits. So the saver is not a job of bash: `jobs`, `wait` and `$!` do
 * not show it. But the end of the subshell would run a trap on CHLD, so a session with such a trap forks no saver.
 */
function forkScript(context: HarnessContext, save: SavePlan, descriptors: readonly number[]): string {
  const { token, toReport } = context;
  const close = descriptors.map((fd) => ` ${fd}>&-`).join("");
  return [
    // Turn on job control: it gives the saver its own process group, and leaves the handling of INT as it is. It also
    // changes SHELLOPTS, so pass on the old value.
    `( \\builtin set -- "$BASHOPTS" "$SHELLOPTS";\\builtin set -m;{ ${saverScript(context, save)}} &`,
    `\\builtin printf 'f\\000${token}\\000${save.number}\\000%s\\000\\n' "$!" ${toReport} )`,
    // Close the descriptors with redirections of the subshell, which take effect only there: otherwise the saver would
    // keep pipes, locks and the script of bash open.
    ` </dev/null >/dev/null 2>&1${close}`,
  ].join("");
}

/** The saver does not report its end, because its report could land in the middle of a report of bash. */
function saverScript(context: HarnessContext, save: SavePlan): string {
  const { marks, variable, stateFile, saverPauseSeconds } = context;
  return [
    // Pause first: if bash saves a newer state during the pause, the host ends this saver, which has then done no work
    // in vain.
    `{ LC_ALL=C \\builtin read -rt ${saverPauseSeconds} -u 2 ${variable};`,
    `${variable}[2]=$EPOCHREALTIME;${partsScript(context, save, `"$1" "$2"`)}`,
    // stderr is a pipe that the saver reads itself. An error message in the pipe precedes the dot, and the state then
    // gets no end mark.
    `\\builtin printf '.\\n' >&2;IFS= \\builtin read -ru 2 ${variable};[[ $${variable} != . ]]||`,
    `\\builtin printf '${marks.end}${save.number}\\n%s %s\\n' "\${${variable}[2]}" "$EPOCHREALTIME";`,
    `} 2<> <(:) >|${stateFile(save.file)};`,
  ].join("");
}

/** Prints the state without its end mark. */
function partsScript({ marks }: HarnessContext, { suspendedSettings }: SavePlan, options: string): string {
  const { expandsAliases, disabled } = suspendedSettings;
  return [
    // bash writes line by line, so print each list of options as one line instead of forty.
    `\\builtin printf '${marks.options}${expandsAliases ? "expand_aliases:" : ""}%s\\n%s\\n${marks.functions}' ${options};`,
    `\\builtin declare -F;\\builtin printf '${marks.bodies}';\\builtin declare -f;`,
    `\\builtin printf '${marks.variables}';\\builtin declare -p;\\builtin printf '${marks.rest}';`,
    "\\builtin alias -p;\\builtin umask -p;\\builtin trap -p;\\builtin enable -n;",
    // With `set +h`, `hash -l` would print an error, and a saver treats every error as a failed write.
    "[[ $- != *h* ]]||\\builtin hash -l;",
    // A plain `declare -p` prints DIRSTACK as empty.
    `[[ -z \${DIRSTACK[1]-} ]]||\\builtin declare -p DIRSTACK;`,
    disabled.length === 0 ? "" : `\\builtin printf 'enable -n %s\\n' ${disabled.join(" ")};`,
  ].join("");
}

/** `set -a` also exports the harness's variable. With a command of 1 MiB in the environment, no program could start. */
function unexport({ variable }: HarnessContext): string {
  return `\\builtin export -n ${variable};`;
}

/**
 * Removes the command's number from bash before it forks. Otherwise KillShell could find the saver with that number and
 * end it as a leftover of the command.
 */
function unnumber({ isTagged }: HarnessContext): string {
  return isTagged ? "\\builtin ulimit -Sx hard;" : "";
}
