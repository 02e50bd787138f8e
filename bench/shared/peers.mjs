// Installs the programs that the benchmarks compare with nacre, at pinned versions. They go to a cache folder, never to
// the dependencies of the package, and their install scripts do not run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { absent } from "./report.mjs";

const PEERS = {
  execa: { package: "execa", version: "9.6.1", entry: "index.js" },
  zx: { package: "zx", version: "8.8.5", entry: "build/index.js" },
  "just-bash": { package: "just-bash", version: "3.4.2", entry: "dist/bundle/index.js" },
  pi: { package: "@mariozechner/pi-coding-agent", version: "0.73.1", entry: "dist/index.js" },
  "tree-kill": { package: "tree-kill", version: "1.2.2", entry: "index.js" },
  "cc-safety-net": { package: "cc-safety-net", version: "2.4.5", entry: "dist/api.js" },
  "gpt-tokenizer": { package: "gpt-tokenizer", version: "4.0.0", entry: "esm/encoding/o200k_base.js" },
  "mcp-server-commands": { package: "mcp-server-commands", version: "0.5.0", entry: "build/index.js" },
  "desktop-commander": {
    package: "@wonderwhy-er/desktop-commander",
    version: "0.2.52",
    entry: "dist/index.js",
    // A transitive dependency requires a version that some registries lack.
    overrides: { "typedarray.prototype.slice": "1.0.5" },
  },
  "sandbox-runtime": { package: "@anthropic-ai/sandbox-runtime", version: "0.0.78", entry: "dist/index.js" },
};

const cache = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), ".cache", "peers");

export function peerTitle(name) {
  return `${name} ${PEERS[name].version}`;
}

/** The entry file of a peer. If the peer is not available, reports that and returns undefined. */
export function peerFile(name) {
  const { package: pkg, version, overrides, entry } = PEERS[name];
  const folder = join(cache, `${name}@${version}`);
  const failed = join(folder, "failed");
  const home = join(folder, "node_modules", pkg);
  if (!existsSync(join(folder, "installed")) && !existsSync(failed))
    install(folder, `${pkg}@${version}`, overrides);
  if (existsSync(failed)) {
    absent(peerTitle(name), readFileSync(failed, "utf8"));
    return undefined;
  }
  return join(home, entry);
}

/** The peer as a module. If it is not available, reports that and returns undefined. */
export async function importPeer(name) {
  const file = peerFile(name);
  if (file === undefined) return undefined;
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    absent(peerTitle(name), `it cannot be loaded: ${error.message.split("\n")[0]}`);
    return undefined;
  }
}

/** Forgets failed installations, so that this run tries them again. */
export function forgetFailures() {
  for (const [name, { version }] of Object.entries(PEERS)) {
    rmSync(join(cache, `${name}@${version}`, "failed"), { force: true });
  }
}

function install(folder, wanted, overrides = {}) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, overrides }));
  process.stderr.write(`bench: installing ${wanted}...\n`);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", [...args, wanted], {
    cwd: folder,
    encoding: "utf8",
    timeout: 600_000,
  });
  const reason =
    stderr?.split("\n").find((line) => /npm error (?!code)/.test(line)) ?? `npm ended with ${status}`;
  const [file, text] =
    status === 0
      ? ["installed", wanted]
      : ["failed", `it cannot be installed here: ${reason.replace("npm error ", "")}`];
  writeFileSync(join(folder, file), text);
}
