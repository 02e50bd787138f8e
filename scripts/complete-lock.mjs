// Run this after changing dependencies. If a registry lacks the optional packages for other platforms, `npm install` omits
// them from the lockfile, and `npm ci` then rejects the lockfile. This script adds them with the exact version that their
// parent requires.
// On other platforms, npm skips them without fetching anything.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

const file = join(root, "package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8"));
let added = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const beside = `${path.slice(0, path.lastIndexOf("node_modules/"))}node_modules/${name}`;
    const nested = `${path}/node_modules/${name}`;
    const found = lock.packages[nested] ?? lock.packages[beside] ?? lock.packages[`node_modules/${name}`];
    const platform = platformOf(name);
    if (!platform || !/^\d+\.\d+\.\d+/.test(version) || found?.version === version) continue;
    const { cpu, libc, os } = platform;
    // Keep npm's order of keys: otherwise the next npm run reorders the lines.
    lock.packages[lock.packages[beside] ? nested : beside] = {
      version,
      ...(cpu ? { cpu } : {}),
      ...(entry.dev ? { dev: true } : {}),
      ...(libc ? { libc } : {}),
      optional: true,
      ...(os ? { os } : {}),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added to package-lock.json`);

function platformOf(name) {
  const words = name.split("/").at(-1).split("-");
  const os = words.find((word) =>
    ["android", "darwin", "freebsd", "linux", "openharmony", "sunos", "win32"].includes(word),
  );
  const cpu = words.find((word) =>
    ["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"].includes(word),
  );
  const libc = words.some((word) => word.startsWith("musl"))
    ? "musl"
    : words.some((word) => word.startsWith("gnu"))
      ? "glibc"
      : undefined;
  if (!os && !cpu) return undefined;
  return {
    os: os && [os],
    cpu: cpu && [cpu],
    libc: os === "linux" ? libc && [libc] : undefined,
  };
}
