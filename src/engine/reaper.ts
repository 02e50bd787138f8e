// Whether PID 1 reaps orphans when they end. The kernel makes an orphan a child of PID 1, which must reap it.
// Node reaps only children that it started itself. In a container without an init, where Node is PID 1, every
// orphan stays as a zombie.
import { basename } from "node:path";
import { commandLine, readStat } from "./process-table.ts";

export const REAPER_REMEDY =
  "Start the container with an init: docker run --init, tini or dumb-init as its entrypoint, or shareProcessNamespace: true in a Kubernetes pod.";

/** The problem, as a sentence; undefined if there is none. */
export function missingReaper(ownPid = process.pid, first = firstProcess()): string | undefined {
  const subject =
    ownPid === 1 ? "This process is PID 1" : isNode(first) ? "PID 1 is a Node program" : undefined;
  if (subject === undefined) return undefined;
  return `${subject} and does not reap orphans: each process that outlives its command stays as a zombie until the container ends.`;
}

interface FirstProcess {
  readonly name: string;
  readonly command: string;
}

function firstProcess(): FirstProcess {
  return { name: readStat(1)?.name ?? "", command: commandLine(1) };
}

/** npm and npx change their process name, so check the command line as well. */
function isNode({ name, command }: FirstProcess): boolean {
  const program = basename(command.split(" ", 1)[0] ?? "");
  return [program, name].some((text) => /^(?:node(?:js)?|npm|npx|pnpm|yarn|bun|deno)\b/.test(text));
}

let hasWarned = false;

/** Warns once per process. Node prints the warning to stderr; a program can listen with process.on("warning"). */
export function warnOfMissingReaper(): void {
  if (hasWarned) return;
  hasWarned = true;
  const problem = missingReaper();
  if (problem !== undefined)
    process.emitWarning(`${problem} ${REAPER_REMEDY}`, { type: "NacreWarning", code: "NACRE_NO_REAPER" });
}
