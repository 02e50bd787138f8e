// A remote machine for the page that sends the messages of a script, including messages that nacre never sends.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface MachineScript {
  /** The messages that the machine sends in order when a page starts to watch. */
  readonly changes: readonly unknown[];
  /** The result of every other request. */
  readonly result?: unknown;
}

/** Writes its program to the directory, and returns its URL. */
export function scriptedMachine(dir: string, { changes, result = {} }: MachineScript): string {
  const program = join(dir, "machine.mjs");
  const script = join(dir, "machine.json");
  writeFileSync(program, PROGRAM);
  writeFileSync(script, JSON.stringify({ changes, result }));
  return `command:${JSON.stringify([process.execPath, program, script])}`;
}

/** Implements the remote end of a link. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { changes, result } = JSON.parse(readFileSync(process.argv[2], "utf8"));
let sent = 0;
let received = 0;
const send = (message) => {
  sent += 1;
  process.stdout.write(sent + " " + received + " " + JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
};
process.stdout.write("nacre-serve 1 " + "0".repeat(16) + " " + "ab".repeat(8) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.startsWith("hello ")) {
    process.stdout.write('welcome {"state":"new","received":0,"cwd":"/","pid":1}\\n');
    return;
  }
  const [, seq, json] = /^(\\d+) \\d+ ?(.*)$/.exec(line) ?? [];
  if (!json) return;
  received = Number(seq);
  const { id, method } = JSON.parse(json);
  if (method === "nacre/ui.watch")
    for (const params of changes) send({ method: "nacre/ui.change", params });
  else if (id !== undefined) send({ id, result });
});
`;
