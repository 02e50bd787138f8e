// A remote end that breaks the protocol on purpose: a command link whose program runs the code of a test.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface HostilePlace {
  readonly url: string;
  /** When each connection began, in milliseconds. */
  connections(): number[];
}

/** Helpers for every hostile program. `count` is the number of this connection, starting at 1. */
const COMMON = `
const fs = require("node:fs");
const out = (text, then) => process.stdout.write(text, then);
const greet = (epoch = "fedcba9876543210") => out("nacre-serve 1 0123456789abcdef " + epoch + "\\n");
const frame = (seq, message, ack = 0) => out(seq + " " + ack + " " + JSON.stringify(message) + "\\n");
const answer = (seq, id, result) => frame(seq, { jsonrpc: "2.0", id, result });
const welcome = (more = {}) =>
  out("welcome " + JSON.stringify({ state: hello.epoch === null ? "new" : "resumed", received: 0, cwd: "/", pid: 1, ...more }) + "\\n");
let hello;
fs.appendFileSync(process.argv[1], Date.now() + "\\n");
const count = fs.readFileSync(process.argv[1], "utf8").trim().split("\\n").length;
let rest = "";
const onHello = (use) => process.stdin.on("data", (chunk) => {
  if (hello !== undefined) return;
  rest += chunk;
  const [line = "", next] = rest.split("\\n");
  if (next === undefined) return;
  hello = JSON.parse(line.slice(6));
  use();
});
const onRequest = (use) => process.stdin.on("data", (chunk) => {
  if (String(chunk).includes('"nacre/shells.list"')) use();
});
/** Answers the client's message "bye". Otherwise the client would wait for the answer until a timeout. */
const sayBye = () => process.stdin.on("data", (chunk) => {
  if (String(chunk).includes("bye\\n")) out("bye\\n");
});
process.stdin.resume();
`;

/** `body`: JavaScript that runs at each connection. */
export function hostilePlace(dir: string, body: string): HostilePlace {
  const log = join(dir, "connections");
  writeFileSync(log, "");
  return {
    url: `command:${JSON.stringify([process.execPath, "-e", `${COMMON}${body}`, log])}`,
    connections: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map(Number),
  };
}
