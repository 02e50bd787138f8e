// Installs dependencies and builds dist. Each step writes a stamp with the hash of its inputs, and runs again only if the
// inputs change.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

export function ensureInstalled() {
  // The stamp is in node_modules, so that deleting the folder also deletes the stamp.
  once("node_modules/.nacre-installed", ["package-lock.json"], "Installing dependencies", () =>
    run("npm", ["ci", "--ignore-scripts", "--loglevel=error"]),
  );
}

export function ensureBuilt() {
  ensureInstalled();
  once(
    "dist/.nacre-built",
    ["src", "package-lock.json", "package.json", "tsdown.config.ts", "tsconfig.json"],
    "Building",
    () => {
      // Build elsewhere and rename: programs that run from dist must not see a partial build.
      const folder = `.cache/build-${process.pid}`;
      const fresh = `${folder}/dist`;
      runTsdown(["--logLevel", "error", "--out-dir", fresh]);
      for (const name of readdirSync(join(root, "src/engine"))) {
        if (name.endsWith(".sh")) cpSync(join(root, "src/engine", name), join(root, fresh, "engine", name));
      }
      cpSync(join(root, "src/ui/page"), join(root, fresh, "ui/page"), { recursive: true });
      // The program reads its version from the package.json next to dist.
      cpSync(join(root, "package.json"), join(root, folder, "package.json"));
      finishProgram(join(root, fresh, "cli"));
      writeBuildHash(join(root, folder));
      const old = join(root, `.cache/old-${process.pid}`);
      if (existsSync(join(root, "dist"))) renameSync(join(root, "dist"), old);
      renameSync(join(root, fresh), join(root, "dist"));
      for (const done of [old, join(root, folder)]) rmSync(done, { recursive: true, force: true });
    },
  );
}

/**
 * Writes the hash that identifies this build on remote machines. It covers everything the program needs at run time
 * (src/engine/own-build.ts).
 */
function writeBuildHash(folder) {
  const isNeeded = (name) =>
    name === "package.json" || /^dist\/(cli\/|engine\/.*\.sh$|files\/.*\.cjs$|search-worker\.js$)/.test(name);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(isNeeded)
    .sort();
  const hash = createHash("sha256");
  for (const name of names)
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(folder, name)))
      .update("\0");
  writeFileSync(join(folder, "dist/build-hash"), `${hash.digest("hex").slice(0, 16)}\n`);
}

/** The bundled program is CommonJS. */
function finishProgram(folder) {
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
}

/** Runs a program with its output on stderr: stdout belongs to the npm script. */
/** Leaves out tsdown's warning about Node 20, which reads as if nacre needed a later Node. */
function runTsdown(args) {
  const program = join(root, "node_modules/.bin/tsdown");
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (error) throw error;
  const lines = `${stdout}${stderr}`
    .split("\n")
    .filter((line) => !/^\W*\[tsdown\] Node\.js .* is deprecated/.test(line));
  const text = lines.join("\n").trim();
  if (text !== "") process.stderr.write(`${text}\n`);
  if (status !== 0) throw new Error("see the messages of tsdown above");
}

export function run(file, args) {
  execFileSync(file, args, { cwd: root, stdio: ["ignore", 2, 2] });
}

function once(stamp, inputs, title, work) {
  const path = join(root, stamp);
  const hash = createHash("sha256").update(process.version);
  for (const input of inputs) addToHash(hash, input);
  const digest = hash.digest("hex");
  if (existsSync(path) && readFileSync(path, "utf8") === digest) return;
  process.stderr.write(`nacre: ${title.toLowerCase()}...\n`);
  try {
    work();
  } catch (error) {
    process.stderr.write(`nacre: ${title.toLowerCase()} failed: ${error.message}\n`);
    process.exit(1);
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, digest);
}

function addToHash(hash, relative) {
  const path = join(root, relative);
  if (!existsSync(path)) return;
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path).sort()) addToHash(hash, join(relative, name));
  } else {
    hash.update(relative).update("\0").update(readFileSync(path)).update("\0");
  }
}
