// Writes the script that the waiting bash of a slot reads before its command (engine/hook.sh). With this script bash
// sets its limits and replaces itself with bwrap. If the sandbox hides the state root of another host, bash stays and
// runs bwrap as its child: bwrap fails if that root vanishes while bwrap mounts it, and bash then runs bwrap again.
// Pure.
import { isAbsolute } from "node:path";
import { SHELL_NAMES } from "../engine/state-dir.ts";
import { SANDBOX_TRIES_MAX_COUNT } from "../support/limits.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { COMMAND_STDERR_FD, type WrappedStart } from "./bubblewrap.ts";
import type { LimitPlan } from "./resource-limits.ts";

interface StartParts {
  readonly limits: LimitPlan | undefined;
  readonly wrapped: WrappedStart | undefined;
  /** The shell's own directory. */
  readonly dir: string;
  /** Pipes that the sandbox inherits, opened by their paths in /proc. */
  readonly pipes: readonly InheritedPipe[];
}

/** A pipe of another process that the first process in the sandbox inherits. */
export interface InheritedPipe {
  readonly fd: number;
  readonly path: string;
}

export function startScript({ limits, wrapped, dir, pipes }: StartParts): string {
  const fault = (why: string) =>
    `{ builtin printf '${why}\\n' >${shellQuote(`${dir}/fault`)}; builtin exit 126; }`;
  const lines: string[] = [];
  for (const file of limits?.groups ?? []) {
    lines.push(`builtin printf %s "$BASHPID" 2>/dev/null >${shellQuote(file)} || ${fault("limits")}`);
  }
  for (const limit of limits?.rlimits ?? []) {
    lines.push(`builtin ulimit ${limit} 2>/dev/null || ${fault("limits")}`);
  }
  if (wrapped) {
    const files = wrapped.descriptors.map(({ fd, mode, file }) => {
      const path = isAbsolute(file) ? file : `${dir}/${file}`;
      return `${fd}${mode === "read" ? "<" : ">"}${shellQuote(path)}`;
    });
    const inherited = pipes.map(({ fd, path }) => `${fd}<>${shellQuote(path)}`);
    const [program = "", ...args] = wrapped.argv;
    lines.push(...LOADER_VARIABLES);
    lines.push("builtin shopt -s execfail");
    const command = [
      ...wrapped.stage.map(shellQuote),
      shellQuote(program),
      `"\${__nacre_loader[@]}"`,
      ...args.map(shellQuote),
      ...inherited,
      ...files,
    ].join(" ");
    // Do not use `builtin exec`, because it would undo the redirections.
    lines.push(...(wrapped.canVanish ? untilSetUp(command, dir) : [`exec ${command}`]));
    lines.push(fault("sandbox"));
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Runs bwrap again until it has set up the sandbox. bwrap reports an exit code only if the program in the sandbox has
 * begun, and exits with 1 if that program could not begin. So the program never runs twice. If bwrap is missing, bash
 * continues after these lines.
 */
function untilSetUp(command: string, dir: string): string[] {
  const [status, errors] = [SHELL_NAMES.sandboxStatus, SHELL_NAMES.sandboxErrors].map((name) =>
    shellQuote(`${dir}/${name}`),
  );
  return [
    // Discard bash's own messages: otherwise bash would report on stderr that a signal has ended bwrap.
    `exec ${COMMAND_STDERR_FD}>&2 2>/dev/null`,
    // Give the bash in the sandbox the same SHLVL that it would have after an exec.
    "((SHLVL--))",
    "for ((__nacre_try = 1; ; __nacre_try++)); do",
    `  builtin command ${command} 2>${errors}`,
    "  __nacre_code=$?",
    `  IFS= builtin read -r -d '' __nacre_status <${status}`,
    `  [[ $__nacre_status == *'"exit-code"'* ]] && builtin exit "$__nacre_code"`,
    `  ((__nacre_code == 1 && __nacre_try < ${SANDBOX_TRIES_MAX_COUNT})) || break`,
    "done",
    `IFS= builtin read -r -d '' __nacre_errors <${errors}`,
    `builtin printf %s "$__nacre_errors" >&${COMMAND_STDERR_FD}`,
    '[[ -z $__nacre_status ]] || builtin exit "$__nacre_code"',
  ];
}

/**
 * Passes loader variables to the command and removes them from bwrap's own environment. bwrap runs outside the sandbox,
 * and LD_LIBRARY_PATH can name a directory that the command can write.
 */
const LOADER_VARIABLES = [
  "__nacre_loader=()",
  `for __nacre_name in "\${!LD_@}"; do`,
  `  __nacre_loader+=(--setenv "$__nacre_name" "\${!__nacre_name}")`,
  '  builtin export -n "$__nacre_name"',
  "done",
];
