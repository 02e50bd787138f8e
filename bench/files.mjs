// The file tools on a generated repository of 20,000 files: read, edit, find and search, compared with plain rg and
// with pi's file tools. The methods alternate, so that noise affects all equally.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolkit } from "nacre";
import { median, spread, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { importPeer, peerTitle } from "./shared/peers.mjs";
import { absent, table, target } from "./shared/report.mjs";

const FILES = amount(20_000, 200);
const ROUNDS = amount(30, 2);
const PI = peerTitle("pi");
const LIST = ["--files", "--hidden", "--glob", "!.git"];
const base = mkdtempSync("/var/tmp/nacre-bench-");
const work = join(base, "work");
generate();
const kit = await createToolkit({ workingDir: work, stateRoot: join(base, "state"), with: ["files"] });
try {
  const pi = await piTools();
  await compare(`Read of 200 lines`, {
    nacre: () => call("Read", { file_path: "src/d0/f0.ts" }),
    ...(pi.read ? { [PI]: () => pi.read({ path: "src/d0/f0.ts" }) } : {}),
  });
  await compare("Edit of one line", {
    nacre: edit("src/d0/f1.ts", (old_string, new_string) =>
      call("Edit", { file_path: "src/d0/f1.ts", old_string, new_string }),
    ),
    ...(pi.edit
      ? {
          [PI]: edit("src/d0/f2.ts", (oldText, newText) =>
            pi.edit({ path: "src/d0/f2.ts", edits: [{ oldText, newText }] }),
          ),
        }
      : {}),
  });
  const grep = await compare(`Search ${FILES} files for a word that one of them contains`, {
    rg: () => plain(["--hidden", "--glob", "!.git", "-n", "needle", "."]),
    nacre: () => call("Grep", { pattern: "needle", output_mode: "content" }),
    ...(pi.grep ? { [PI]: () => pi.grep({ pattern: "needle" }) } : {}),
  });
  const glob = await compare(`List the files that match \`**/f1?.ts\`, of ${FILES}`, {
    rg: () => plain([...LIST, "--type-add", "wanted:f1?.ts", "--type", "wanted"]),
    "rg --glob, which overrides ignore files": () => plain([...LIST, "--glob", "**/f1?.ts"]),
    nacre: () => call("Glob", { pattern: "**/f1?.ts" }),
    ...(pi.find ? { [PI]: () => pi.find({ pattern: "**/f1?.ts" }) } : {}),
  });
  target("Grep time, relative to plain rg", ratio(grep), { atMost: 1.5 }, "x");
  target("Glob time, relative to plain rg", ratio(glob), { atMost: 1.5 }, "x");
} finally {
  await kit.dispose();
  rmSync(base, { recursive: true, force: true });
}

function ratio(times) {
  return Number((median(times.nacre) / median(times.rg)).toFixed(2));
}

async function compare(title, candidates) {
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (const work of Object.values(candidates)) await work();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, work] of Object.entries(candidates)) times[name].push(await timed(work));
  }
  table(
    title,
    ["method", "ms, median / p95"],
    Object.keys(times).map((name) => [name, spread(times[name])]),
  );
  return times;
}

async function call(tool, args) {
  const result = await kit.call(tool, args);
  if (!result.success) throw new Error(result.error);
  return result;
}

/** Returns a function that replaces one line. Alternates between two texts. */
function edit(file, apply) {
  let [now, next] = ["line 100 ", "LINE 100 "];
  let hasRead = false;
  return async () => {
    if (!hasRead) await call("Read", { file_path: file });
    hasRead = true;
    await apply(now, next);
    [now, next] = [next, now];
  };
}

function plain(args) {
  const { status, error } = spawnSync("rg", args, { cwd: work });
  if (error?.code === "ENOENT") throw new Error("rg is not installed: apt-get install ripgrep");
  if (error || status > 1) throw error ?? new Error(`rg ended with ${status}`);
}

/** The peer's tools, each as a function of its arguments. */
async function piTools() {
  const module = await importPeer("pi");
  const tools = {};
  for (const [name, create] of Object.entries({
    read: module?.createReadTool,
    edit: module?.createEditTool,
    grep: module?.createGrepTool,
    find: module?.createFindTool,
  })) {
    if (typeof create !== "function") {
      if (module) absent(`${PI} ${name}`, "the package does not export this tool");
      continue;
    }
    try {
      const tool = create(work);
      const run = (args) => tool.execute("call", args);
      if (name === "grep" || name === "find") await run({ pattern: "needle" });
      tools[name] = run;
    } catch (error) {
      absent(`${PI} ${name}`, error.message.split("\n")[0]);
    }
  }
  return tools;
}

function generate() {
  const perFolder = 200;
  const body = Array.from({ length: 200 }, (_, i) => `line ${i} of some ordinary source text();\n`).join("");
  for (let i = 0; i < FILES; i++) {
    const folder = join(work, "src", `d${Math.floor(i / perFolder)}`);
    if (i % perFolder === 0) mkdirSync(folder, { recursive: true });
    const text =
      i < 10 ? body : `export const value${i} = ${i};\nexport function f${i}() {\n  return value${i};\n}\n`;
    writeFileSync(join(folder, `f${i % perFolder}.ts`), i === FILES - 1 ? `${text}needle\n` : text);
  }
  writeFileSync(join(work, ".gitignore"), "dist/\n");
  // Create a repository: outside of one, plain rg does not apply .gitignore, so it would do less work than the tools.
  const { status } = spawnSync("git", ["init", "--quiet"], { cwd: work });
  if (status !== 0) throw new Error("git init failed");
}
