// Another user of the remote machine must not get at the state of nacre: neither with a directory prepared in advance,
// nor through the socket of the daemon.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startArguments } from "../../src/remote/bootstrap/remote-scripts.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { remotePlace } from "./remote-place.ts";

const directory = useLeakProof();
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Runs the start script where nacre is installed and HOME cannot be used. Returns the state root that it chooses. */
function chosenState(dir: string): string {
  const bin = join(dir, "bin");
  const dist = join(dir, "dist/cli");
  for (const path of [bin, dist]) mkdirSync(path, { recursive: true });
  writeFileSync(join(dist, "main.js"), "", { mode: 0o755 });
  writeFileSync(join(dir, "dist/build-hash"), "0123456789abcdef\n");
  symlinkSync(join(dist, "main.js"), join(bin, "nacre"));
  writeFileSync(join(bin, "node"), '#!/bin/sh\necho "$NACRE_HOME"\n', { mode: 0o755 });
  return startScript(dir, `${bin}:/usr/bin:/bin`);
}

/** Runs the start script with a cache in `dir`, and another /var/tmp, which is the next choice after the cache. */
function startScript(dir: string, path: string): string {
  const env = { PATH: path, HOME: "/dev/null", XDG_CACHE_HOME: join(dir, "cache") };
  // On the same disk: of a tmpfs, the probe would go on to the /tmp of this machine.
  const varTmp = join(dir, "var-tmp");
  mkdirSync(varTmp);
  const words = startArguments("0123456789abcdef", undefined);
  const privately = ["-rm", "sh", "-c", 'mount --bind "$0" /var/tmp && exec "$@"', varTmp, ...words];
  return execFileSync("unshare", privately, { env, encoding: "utf8" }).trim();
}

const ATTACKS: Readonly<Record<string, (path: string, dir: string) => void>> = {
  "a symbolic link": (path, dir) => {
    mkdirSync(join(dir, "elsewhere"), { mode: 0o755 });
    symlinkSync(join(dir, "elsewhere"), path);
  },
  "a directory that the group can write to": (path) => {
    mkdirSync(path);
    chmodSync(path, 0o770);
  },
  "a directory that everyone can write to": (path) => {
    mkdirSync(path);
    chmodSync(path, 0o702);
  },
};

test("the state goes into a private directory if HOME cannot be used", () => {
  const dir = directory();
  expect(chosenState(dir)).toBe(join(dir, "cache", "nacre-0", "state"));
  expect(statSync(join(dir, "cache/nacre-0")).mode & 0o777).toBe(0o700);
});

test.each(Object.keys(ATTACKS))("the state does not go into %s", (name) => {
  const dir = directory();
  mkdirSync(join(dir, "cache"));
  ATTACKS[name]?.(join(dir, "cache", "nacre-0"), dir);
  expect(chosenState(dir)).toBe("/var/tmp/nacre-0/state");
});

test.runIf(isRoot)("the state does not go into a directory of another user", () => {
  const dir = directory();
  const path = join(dir, "cache", "nacre-0");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chownSync(path, NOBODY, NOBODY);
  expect(chosenState(dir)).toBe("/var/tmp/nacre-0/state");
});

test("the probe does not change the mode of a directory behind a symbolic link", () => {
  const dir = directory();
  for (const name of ["cache", "target"]) mkdirSync(join(dir, name));
  chmodSync(join(dir, "target"), 0o755);
  symlinkSync(join(dir, "target"), join(dir, "cache", "nacre-0"));
  const printed = startScript(dir, "/usr/bin:/bin");
  expect(printed).toContain("nacre-probe system Linux");
  expect(printed).not.toContain(`${dir}/cache`);
  expect(statSync(join(dir, "target")).mode & 0o777).toBe(0o755);
});

const CONNECT = `
const socket = require("node:net").connect(process.argv[1]);
socket.on("connect", () => { console.log("connected"); process.exit(); });
socket.on("error", (error) => { console.log(error.code); process.exit(); });`;

test.runIf(isRoot)("another user cannot connect to the daemon, even if it finds the socket", async () => {
  const place = remotePlace(directory());
  await using kit = await createToolkit({ remote: place.url });
  await kit.run("true");
  const serve = join(place.state, "serve");
  const socket = readdirSync(serve).find((name) => lstatSync(join(serve, name)).isSocket()) ?? "";
  expect(statSync(join(serve, socket)).mode & 0o777).toBe(0o600);
  const connect = (...prefix: readonly string[]) =>
    spawnSync("setpriv", [...prefix, process.execPath, "-e", CONNECT, join(serve, socket)], {
      encoding: "utf8",
    }).stdout;
  const other = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  expect(connect(...other)).toBe("EACCES\n");
  // Only the socket's own mode stands in the way now.
  for (const path of [place.dir, place.state, serve]) chmodSync(path, 0o711);
  expect(connect(...other)).toBe("EACCES\n");
  expect(connect("--no-new-privs")).toBe("connected\n");
  await kit.dispose();
  await place.end();
});
