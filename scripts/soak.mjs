// npm run soak [-- --commands N]: N commands of all kinds through one host, 50,000 if nothing is said, and then the
// long forms of the soaks of one keeper and one session. With a number, the mixed commands alone.
import { parseArgs } from "node:util";
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const { values } = parseArgs({ options: { commands: { type: "string" } } });
const commands = Number(values.commands ?? 50_000);
if (!Number.isInteger(commands) || commands < 100) {
  console.error("soak: --commands takes a whole number of 100 or more.");
  process.exit(2);
}
ensureBuilt();
const { status } = runVitest({
  cwd: root,
  words: [values.commands === undefined ? "soak" : "test/faults/mixed-soak.test.ts"],
  env: { NACRE_LONG: "1", NACRE_SOAK_COMMANDS: String(commands) },
});
process.exit(status);
