// npm run newcomer: follows README.md. Packs the package and installs it into an empty project. Type-checks and runs
// every ts block, runs every line of the sh blocks, and starts the server of every client configuration to list its
// tools. Then runs the ts blocks on newer Node versions. Also type-checks and runs the rows of newcomer-lines.mjs: with
// plain Node, in Jest and in vitest. Prints each step and its result. --lines runs only the rows of newcomer-lines.mjs.
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { installAside, NODE, NODE_24, nodeIn } from "./install-aside.mjs";
import { serverOf } from "./server-of.mjs";
import { ensureBuilt, root } from "./setup.mjs";

const JEST = "30.5.2";
const EXECA = "9.6.1";
const NEWER_NODES = ["22.23.3", NODE_24];
const SNIPPET_MAX_MS = 120_000;
/** Lines of sh blocks that this script does not run, with the reason. */
const NOT_RUN = { "npm test": "CI runs the tests separately" };

ensureBuilt();
const base = mkdtempSync(join(tmpdir(), "nacre-newcomer-"));
const dir = join(base, "project");
let failures = 0;
try {
  const { tarball, size } = pack();
  install(tarball);
  runLines();
  if (!process.argv.includes("--lines")) await followReadme(size);
} finally {
  if (existsSync(dir)) runLine("nacre kill --all");
  rmSync(base, { recursive: true, force: true });
}
console.log(failures === 0 ? "Every step works." : `${failures} step(s) failed.`);
process.exit(failures === 0 ? 0 : 1);

async function followReadme(size) {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const snippets = blocksOf(readme, "ts").map(writeSnippet);
  if (snippets.length === 0) report("README.md has ts blocks", false);
  report("the types of every snippet", checkTypes(snippets));
  for (const { name, js } of snippets) report(`${name} runs`, runNode(process.execPath, js));
  for (const line of linesOf(readme)) if (!(line in NOT_RUN)) report(line, runLine(line));
  for (const line of Object.keys(NOT_RUN))
    if (!linesOf(readme).includes(line)) report(`README.md shows ${line}`, false);
  const configurations = ["text", "toml", "json"].flatMap((language) => blocksOf(readme, language));
  for (const block of configurations) report(titleOf(block), await listsTools(block));
  for (const version of NEWER_NODES) onNewerNode(version, snippets);
  const weight = `${(size / 1024 ** 2).toFixed(1)} MiB when packed. With its dependencies, it is ${countDependencies()} packages`;
  report(`README.md states the package size: ${weight}`, readme.replace(/\s+/g, " ").includes(weight));
  // Must be last: it installs execa into the project, and the step above counts the project's packages.
  report("both halves of the execa example in docs/migration.md print the same", printsTheSame());
}

/** The rows of newcomer-lines.mjs in every environment in which people use the library. */
function runLines() {
  for (const name of ["lines.ts", "lines.mjs"])
    copyFileSync(join(root, "scripts/newcomer-lines.mjs"), join(dir, name));
  report("the types of every row", checkTypes([{ name: "lines" }]));
  writeFileSync(
    join(dir, "run-lines.mjs"),
    'import { rows } from "./lines.mjs";\nfor (const [, run] of rows) await run();\n',
  );
  report(`every row runs with Node ${process.versions.node}`, runNode(process.execPath, "run-lines.mjs"));
  writeFileSync(
    join(dir, "lines.test.mjs"),
    `import { rows } from "./lines.mjs";\nfor (const [name, run] of rows) test(name, run, ${SNIPPET_MAX_MS});\n`,
  );
  const jest = join(installAside(`jest-${JEST}`, { jest: JEST }), "node_modules/jest/bin/jest.js");
  const jestArgs = ["--experimental-vm-modules", jest, "--rootDir", dir, "--testMatch", "**/lines.test.mjs"];
  report("every row runs in Jest", run(process.execPath, jestArgs));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const vitestArgs = [vitest, "run", "--root", dir, "--globals", "lines.test.mjs"];
  report("every row runs in vitest", run(process.execPath, vitestArgs));
}

function pack() {
  const out = execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", base], {
    cwd: root,
    encoding: "utf8",
  });
  const [{ filename, size }] = JSON.parse(out);
  return { tarball: join(base, filename), size };
}

/** Creates a project, and a `make` that succeeds: the only program that README.md expects. */
function install(tarball) {
  mkdirSync(join(base, "bin"));
  writeFileSync(join(base, "bin/make"), "#!/bin/sh\necho made $*\n", { mode: 0o755 });
  mkdirSync(dir);
  writeFileSync(
    join(dir, "package.json"),
    JSON.stringify({ name: "newcomer", private: true, type: "module" }),
  );
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

/** Writes the block unchanged into two files: .ts to type-check, .mjs to run. */
function writeSnippet(body, index) {
  const name = `snippet-${index + 1}`;
  const js = join(dir, `${name}.mjs`);
  for (const file of [join(dir, `${name}.ts`), js]) writeFileSync(file, body);
  return { name, js };
}

function checkTypes(snippets) {
  const args = ["--noEmit", "--strict", "--target", "ES2022", "--lib", "ES2022,ESNext.Disposable,DOM"];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const files = snippets.map(({ name }) => `${name}.ts`);
  const resolutions = [
    ["--module", "nodenext"],
    ["--module", "preserve", "--moduleResolution", "bundler"],
  ];
  return resolutions.every((resolution) =>
    run(process.execPath, [tsc, ...args, ...resolution, "--types", "node", ...files]),
  );
}

function runNode(node, file) {
  return run(node, [file]);
}

/** The lines of the sh blocks, without comments. */
function linesOf(text) {
  return blocksOf(text, "sh")
    .flatMap((block) => block.split("\n"))
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** test/docs/migration.test.ts runs the other pairs of examples. This pair needs execa. */
function printsTheSame() {
  const page = readFileSync(join(root, "docs/migration.md"), "utf8");
  const [before, after] = blocksOf(page.slice(page.indexOf("## execa")), "js");
  npm("install", `execa@${EXECA}`);
  const outputs = [before, after].map((body, index) => {
    const file = join(dir, `migration-${index}.mjs`);
    writeFileSync(file, body);
    return spawnSync(process.execPath, [file], { cwd: dir, encoding: "utf8", timeout: SNIPPET_MAX_MS });
  });
  const same = outputs[0].status === 0 && outputs[0].stdout !== "" && outputs[0].stdout === outputs[1].stdout;
  if (!same) for (const { stdout, stderr } of outputs) console.log(`${stdout}${stderr}`);
  return same;
}

/** A server runs until it receives a signal. It must then exit with 0. */
function untilSignal(line) {
  return line.startsWith("nacre ui") ? `timeout --preserve-status 10 ${line} --no-open --port 0` : line;
}

/** npm lines run in the clone, others in the project. ID in a line is replaced by the id of a running shell. */
function runLine(line) {
  const isForClone = line.startsWith("npm ");
  const shell = line.includes("ID") ? "ID=$(nacre run -b 'sleep 1000' 2>&-)\n" : "";
  const { status, stdout, stderr, signal } = spawnSync(
    "bash",
    ["-c", shell + untilSignal(line).replace(/\bID\b/, "$ID")],
    {
      cwd: isForClone ? root : dir,
      env: installedEnv(),
      encoding: "utf8",
      timeout: SNIPPET_MAX_MS,
    },
  );
  // Exit codes 3 and 4 are verdicts, not failures.
  const good = line.startsWith("nacre check ") ? [0, 3, 4] : [0];
  const ok = !signal && good.includes(status);
  if (!ok) console.log(`${stdout}${stderr}ended with ${signal ?? status}`);
  return ok;
}

function installedEnv() {
  const bin = join(dir, "node_modules/.bin");
  const path = [bin, join(base, "bin"), process.env.PATH].join(":");
  return { ...process.env, PATH: path, NACRE_HOME: join(base, "state") };
}

function titleOf(block) {
  return `the server of ${block.trim().split("\n")[0]} lists its tools`;
}

/** Starts the server in the project, as a client would. */
async function listsTools(block) {
  const server = serverOf(block);
  if (server === undefined) return false;
  const client = new Client({ name: "newcomer", version: "1.0.0" });
  try {
    await client.connect(new StdioClientTransport({ ...server, cwd: dir, env: installedEnv() }));
    return (await client.listTools()).tools.length === 3;
  } catch (error) {
    console.log(String(error));
    return false;
  } finally {
    await client.close();
  }
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
