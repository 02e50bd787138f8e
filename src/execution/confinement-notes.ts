// What a result says about what its command may touch, and what a model is told beforehand.
import { type Confinement, describeConfinement } from "../engine/confinement.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import type { EndedCommand } from "./notes.ts";

/** The `sandbox` of a result: every one says what it ran under. */
export function sandboxOf(confinement: Confinement | undefined): string {
  return confinement ? describeConfinement(confinement) : "off";
}

/** Part of a tool's description. */
export function sandboxWords({
  sandbox,
  network,
}: Pick<ResolvedExecutionOptions, "sandbox" | "network">): string {
  if (sandbox === "off") return "";
  const where =
    sandbox === "read-only"
      ? "Nothing outside /tmp can be written"
      : "Only the workspace and /tmp can be written";
  const net =
    network === "none" ? "there is no network but a loopback of its own" : "the network can be reached";
  return `\n\nCommands run in a sandbox. ${where}, ${net}; keys and credentials of the user cannot be read, and .git/hooks and .git/config not changed. "Read-only file system" and "Permission denied" there are final: do NOT try to get around them, say what you need.`;
}

/** What explains a failure that the sandbox is behind. */
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
    ...(failed && NO_NETWORK.test(output) && confinement.network === "none"
      ? ['The sandbox has no network; network "full" (--network full) lets commands reach it.']
      : []),
    ...(LEAVES_SOMETHING.test(command)
      ? ["What the command left running has ended with its sandbox; mode background keeps a server up."]
      : []),
  ];
}

const GIT_CONFIG = /could not (?:lock|write) config file|\.git\/(?:config|hooks)\b.*(?:Read-only|busy)/;
const NO_NETWORK =
  /Network is unreachable|Temporary failure in name resolution|Could not resolve host|EAI_AGAIN|ENETUNREACH/;
/** A single & that is neither part of && nor of a redirection. */
const LEAVES_SOMETHING = /(?:^|[^&>|<])&(?![&>\d])/;
