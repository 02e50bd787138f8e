// Whether a process that outlives its parent is reaped when it ends. The kernel makes it a child of PID 1, and PID 1
// has to wait for it; Node waits for the children it has started itself, and for no others. In a container without an
// init, where Node is PID 1, every such process stays behind as a zombie.
import { basename } from "node:path";
import { commandLine, readStat } from "./process-table.ts";

export const REAPER_REMEDY =
  "Start the container with an init: docker run --init, tini or dumb-init as its entrypoint, or shareProcessNamespace: true in a Kubernetes pod.";

/** What is wrong, in a sentence; undefined where nothing is known to be. */
export function missingReaper(ownPid = process.pid, first = firstProcess()): string | undefined {
  const who = ownPid === 1 ? "This process is PID 1" : isNode(first) ? "PID 1 is a Node program" : undefined;
  if (who === undefined) return undefined;
  return `${who} and does not reap orphans: each process that outlives its command stays as a zombie until the container ends.`;
}

interface FirstProcess {
  readonly name: string;
  readonly command: string;
}

function firstProcess(): FirstProcess {
  return { name: readStat(1)?.name ?? "", command: commandLine(1) };
}

/** npm and npx set their own name. */
function isNode({ name, command }: FirstProcess): boolean {
  const program = basename(command.split(" ", 1)[0] ?? "");
  return [program, name].some((word) => /^(?:node(?:js)?|npm|npx|pnpm|yarn|bun|deno)\b/.test(word));
}

let hasWarned = false;

/** Once per process. Node writes it to stderr; a program hears it as process.on("warning"). */
export function warnOfMissingReaper(): void {
  if (hasWarned) return;
  hasWarned = true;
  const problem = missingReaper();
  if (problem !== undefined)
    process.emitWarning(`${problem} ${REAPER_REMEDY}`, { type: "NacreWarning", code: "NACRE_NO_REAPER" });
}
