// A remote machine for the page that sends the messages of a script, including messages that nacre never sends.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface MachineScript {
  /** The messages that the machine sends in order when a page starts to watch. */
  readonly changes: readonly unknown[];
  /** The result of every other request. */
  readonly result?: unknown;
  /**
   * The machine answers a request for output only after it is cancelled, and sends another piece before the answer. It
   * removes the shell when it gets the request, and adds it again after the answer.
   */
  readonly sendsLate?: boolean;
}

/** Writes its program to the directory, and returns its URL. */
export function scriptedMachine(dir: string, { changes, result = {}, sendsLate }: MachineScript): string {
  const program = join(dir, "machine.mjs");
  const script = join(dir, "machine.json");
  writeFileSync(program, PROGRAM);
  writeFileSync(script, JSON.stringify({ changes, result, sendsLate }));
  return `command:${JSON.stringify([process.execPath, program, script])}`;
}

/** Implements the remote end of a link. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { changes, result, sendsLate } = JSON.parse(readFileSync(process.argv[2], "utf8"));
let sent = 0;
let received = 0;
let asked;
const send = (message) => {
  sent += 1;
  process.stdout.write(sent + " " + received + " " + JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
};
const sendChanges = () => {
  for (const params of changes) send({ method: "nacre/ui.change", params });
};
process.stdout.write("nacre-serve 1 " + "0".repeat(16) + " " + "ab".repeat(8) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.startsWith("hello ")) {
    process.stdout.write('welcome {"state":"new","received":0,"cwd":"/","pid":1}\\n');
    return;
  }
  if (line === "bye") process.stdout.write("bye\\n");
  const [, seq, json] = /^(\\d+) \\d+ ?(.*)$/.exec(line) ?? [];
  if (!json) return;
  received = Number(seq);
  const { id, method, params } = JSON.parse(json);
  if (method === "nacre/ui.watch") sendChanges();
  else if (method === "nacre/ui.output" && sendsLate) {
    asked = { id, stream: params.stream };
    send({ method: "nacre/ui.change", params: { shells: [], gone: [params.id] } });
  } else if (method === "notifications/cancelled" && asked !== undefined) {
    send({ method: "nacre/ui.piece", params: { stream: asked.stream, piece: [] } });
    send({ id: asked.id, result });
    sendChanges();
  } else if (id !== undefined) send({ id, result });
});
`;
