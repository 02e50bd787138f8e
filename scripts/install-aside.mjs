// Installs the npm packages that only one script needs into .cache/NAME. Reinstalls them only if the list of packages
// changes.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** The npm package with a Node executable for this machine. */
export const NODE = `node-${process.platform}-${process.arch}`;
/** The version for programs that need a newer Node than nacre does. */
export const NODE_24 = "24.21.0";

/** Returns the folder that contains node_modules. */
export function installAside(name, packages) {
  const home = join(root, ".cache", name);
  const stamp = join(home, "installed.json");
  const text = JSON.stringify(packages);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === text) return home;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
  console.error(`nacre: installing ${name}...`);
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: home,
    stdio: ["ignore", 2, 2],
  });
  writeFileSync(stamp, text);
  return home;
}

/** The Node executable, if `NODE` is among the packages. */
export function nodeIn(home) {
  return join(home, "node_modules", NODE, "bin/node");
}
