// npm run bench [-- NAME...]: every benchmark in a process of its own, one after the other.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, root } from "./setup.mjs";

ensureBuilt();
const wanted = process.argv.slice(2);
const names = readdirSync(join(root, "bench"))
  .filter((file) => file.endsWith(".mjs") && file !== "measure.mjs")
  .map((file) => file.slice(0, -4));
for (const name of wanted.length > 0 ? wanted : names) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, [join(root, "bench", `${name}.mjs`)], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
