// How the sandbox appears in descriptions, metadata and notes.
import { type Confinement, describeConfinement } from "../engine/confinement.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import type { EndedCommand } from "./notes.ts";

/** Whether a sandbox hides nacre's own files from the command. */
export function isConfined(confinement: Confinement | undefined): boolean {
  return confinement?.driver === "bubblewrap";
}

/** The metadata key `sandbox`. Every result has it. */
export function sandboxOf(confinement: Confinement | undefined): string {
  return confinement ? describeConfinement(confinement) : "off";
}

/** The part of a tool description about the sandbox. */
export function sandboxDescription({
  sandbox,
  network,
}: Pick<ResolvedExecutionOptions, "sandbox" | "network">): string {
  if (sandbox === "off") return "";
  const where =
    sandbox === "read-only"
      ? "Nothing outside /tmp can be written"
      : "Only the workspace and /tmp can be written";
  const net =
    network === "none" ? "there is no network except a private loopback" : "the network is available";
  return `\n\nCommands run in a sandbox. ${where}, ${net}; the user's keys and credentials cannot be read, and .git/hooks and .git/config cannot be changed. "Read-only file system" and "Permission denied" are final there: do NOT try to bypass them, say what you need.`;
}

/** Notes that explain failures caused by the sandbox. */
export function sandboxNotes(
  { exitCode, command }: EndedCommand,
  confinement: Confinement | undefined,
  output: string,
): string[] {
  if (confinement?.driver !== "bubblewrap") return [];
  const failed = exitCode !== 0;
  return [
    ...(failed && GIT_CONFIG.test(output)
      ? [
          "The sandbox keeps .git/config and .git/hooks read-only; the option gitConfig (--git-config) lets commands write the config.",
        ]
      : []),
    ...(failed && RULES_BUSY.test(output)
      ? [
          "The sandbox keeps .nacre in place, so that no command can add rules there. If the directory does not exist, the sandbox creates an empty one while a command runs. To leave it out, use git clean -e .nacre.",
        ]
      : []),
    ...(failed && READ_ONLY.test(output)
      ? [
          "The sandbox lets commands write only to the workspace, to /tmp and to the directories of the option writable (--writable), and protects some files there.",
        ]
      : []),
    ...(failed && SPECIAL_MODE.test(output)
      ? ["The sandbox refuses the setuid bit. If the command tries to set it, leave the bit out."]
      : []),
    ...(failed && NO_NETWORK.test(output) && confinement.network === "none"
      ? ['The sandbox has no network; network "full" (--network full) lets commands reach it.']
      : []),
    ...(LEAVES_SOMETHING.test(command)
      ? [
          "The processes that the command left running ended with its sandbox. Use mode background for a server.",
        ]
      : []),
  ];
}

const GIT_CONFIG = /could not (?:lock|write) config file|\.git\/(?:config|hooks)\b.*(?:Read-only|busy)/;
const RULES_BUSY = /\.nacre\/?['’"]?: Device or resource busy/;
// The output is untrusted, so a note never quotes it: a quoted path would look like nacre's advice to make this path
// writable. The pattern excludes .git and .nacre, because the option `writable` does not apply to them.
const READ_ONLY = /^(?!.*\.(?:git|nacre)\/).*read-only file system/im;
const SPECIAL_MODE =
  /(?:changing permissions|change mode|setting permissions|set permissions|preserving permissions|create directory|create regular file|chmod).*Operation not permitted/i;
const NO_NETWORK =
  /Network is unreachable|Temporary failure in name resolution|Could not resolve host|EAI_AGAIN|ENETUNREACH/;
/** Matches a single & that is not part of && or of a redirection. */
const LEAVES_SOMETHING = /(?:^|[^&>|<])&(?![&>\d])/;
