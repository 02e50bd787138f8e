// npm run newcomer: what happens to somebody who reads README.md and does as it says. Packs the package, installs it
// into an empty project, checks the types of every ts block there and runs it, runs every nacre command of the sh
// blocks; then the same program on newer Nodes. Prints what was run and what it came to.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installAside, NODE, NODE_24, nodeIn } from "./install-aside.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const NEWER_NODES = ["22.23.3", NODE_24];
const SNIPPET_MAX_MS = 60_000;
/** What a snippet takes for granted of its reader. */
const PRELUDE = "declare function askAPerson(request: unknown): Promise<boolean>;\n";
const PRELUDE_JS = "globalThis.askAPerson = async () => false;\n";

ensureBuilt();
const require = createRequire(join(root, "package.json"));
const ts = require("typescript");
const base = mkdtempSync(join(tmpdir(), "nacre-newcomer-"));
const dir = join(base, "project");
let failures = 0;
try {
  const { tarball, size } = pack();
  install(tarball);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const snippets = blocksOf(readme, "ts").map(writeSnippet);
  if (snippets.length === 0) report("README.md has ts blocks", false);
  report("the types of every snippet", checkTypes(snippets));
  for (const { name, js } of snippets) report(`${name} runs`, runNode(process.execPath, js));
  for (const line of commandsOf(readme)) report(line, runCommand(line));
  for (const version of NEWER_NODES) onNewerNode(version, snippets);
  console.log(
    `the package: ${Math.round(size / 1024)} KiB packed, ${countDependencies()} packages installed`,
  );
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(failures === 0 ? "A newcomer gets through." : `${failures} step(s) failed.`);
process.exit(failures === 0 ? 0 : 1);

function pack() {
  const out = execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", base], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ filename, size }] = JSON.parse(out);
  return { tarball: join(base, filename), size };
}

/** A project with what the snippets talk about: a failing test, a server that comes up and ends. */
function install(tarball) {
  mkdirSync(join(dir, "packages/api"), { recursive: true });
  const scripts = { test: "echo one test failed; exit 1", dev: "echo listening on $PORT; sleep 1" };
  const manifest = { name: "newcomer", private: true, type: "module", scripts };
  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(dir, "packages/api/package.json"), JSON.stringify({ ...manifest, name: "api" }));
  const types = `@types/node@${versionOf("@types/node")}`;
  npm("install", tarball, types);
}

function npm(...args) {
  execFileSync("npm", [...args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: dir,
    stdio: ["ignore", 2, 2],
  });
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies[name];
}

function blocksOf(text, language) {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , body]) => body);
}

function writeSnippet(body, index) {
  const name = `snippet-${index + 1}`;
  writeFileSync(join(dir, `${name}.ts`), `${PRELUDE}${body}`);
  const { outputText } = ts.transpileModule(body, {
    compilerOptions: { target: "ES2022", module: "ESNext" },
  });
  const js = join(dir, `${name}.mjs`);
  writeFileSync(js, PRELUDE_JS + outputText);
  return { name, js };
}

function checkTypes(snippets) {
  const args = ["--noEmit", "--strict", "--target", "ES2022", "--lib", "ES2022,ESNext.Disposable,DOM"];
  const modules = ["--module", "nodenext", "--types", "node"];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return run(process.execPath, [tsc, ...args, ...modules, ...snippets.map(({ name }) => `${name}.ts`)]);
}

function runNode(node, file) {
  return run(node, [file]);
}

/** Lines of sh blocks that call nacre with nothing left to fill in. */
function commandsOf(text) {
  return blocksOf(text, "sh")
    .flatMap((block) => block.split("\n"))
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter(
      (line) => /^(npx )?nacre /.test(line) && !/\bID\b|\[|<|nacre mcp|nacre init .*--write/.test(line),
    );
}

function runCommand(line) {
  const bin = join(dir, "node_modules/.bin");
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const { status, stdout, stderr, signal } = spawnSync("bash", ["-c", line], {
    cwd: dir,
    env,
    encoding: "utf8",
    timeout: SNIPPET_MAX_MS,
  });
  // A verdict and the exit code of a command are answers, too; 2 and above 4 are not.
  const ok = !signal && (status === 0 || /nacre (check|run)/.test(line)) && !/^error:/m.test(stderr);
  if (!ok) console.log(stdout + stderr);
  return ok;
}

function onNewerNode(version, snippets) {
  const node = nodeIn(installAside(`node-${version}`, { [NODE]: version }));
  for (const { name, js } of snippets) report(`${name} runs on Node ${version}`, runNode(node, js));
}

function countDependencies() {
  const lock = JSON.parse(readFileSync(join(dir, "package-lock.json"), "utf8"));
  return Object.entries(lock.packages).filter(
    ([path, { dev }]) => path && !dev && !path.includes("@types/node") && !path.includes("undici-types"),
  ).length;
}

function run(file, args) {
  const { status, stdout, stderr, signal } = spawnSync(file, args, {
    cwd: dir,
    encoding: "utf8",
    timeout: SNIPPET_MAX_MS,
  });
  if (status !== 0) console.log(`${stdout}${stderr}${signal ? `ended by ${signal}\n` : ""}`);
  return status === 0;
}

function report(what, ok) {
  if (!ok) failures++;
  console.log(`${ok ? "ok    " : "FAILED"} ${what}`);
}
