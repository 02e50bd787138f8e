// npm run soak: the long forms of the tests that have one (50,000 starts, 10,000 commands in one session).
import { runVitest } from "./run-vitest.mjs";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const words = process.argv.slice(2);
const { status } = runVitest({
  cwd: root,
  words: words.length === 0 ? ["soak"] : words,
  env: { NACRE_LONG: "1" },
});
process.exit(status);
