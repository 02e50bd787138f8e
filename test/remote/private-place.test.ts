// Another user of the remote machine cannot access nacre's state by creating a directory in advance, or through the
// daemon's socket.
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
import { usePlaces } from "./remote-place.ts";

const directory = useLeakProof();
const newPlace = usePlaces(directory);
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Runs the start script with nacre installed and an unusable HOME. Returns the state root that the script chooses. */
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

/**
 * Runs the start script in a mount namespace, with its cache directory and its /var/tmp inside `dir`. The script tries
 * /var/tmp after the cache directory.
 */
function startScript(dir: string, path: string): string {
  const env = { PATH: path, HOME: "/dev/null", XDG_CACHE_HOME: join(dir, "cache") };
  // Bind a directory over /var/tmp. The probe would skip a tmpfs there and use the real /tmp.
  const varTmp = join(dir, "var-tmp");
  mkdirSync(varTmp);
  const words = startArguments("0123456789abcdef", undefined);
  const unshareArguments = ["-rm", "sh", "-c", 'mount --bind "$0" /var/tmp && exec "$@"', varTmp, ...words];
  return execFileSync("unshare", unshareArguments, { env, encoding: "utf8" }).trim();
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

test("the state root is a private directory if HOME cannot be used", () => {
  const dir = directory();
  expect(chosenState(dir)).toBe(join(dir, "cache", "nacre-0", "state"));
  expect(statSync(join(dir, "cache/nacre-0")).mode & 0o777).toBe(0o700);
});

test.each(Object.keys(ATTACKS))("the state root is never inside %s", (name) => {
  const dir = directory();
  mkdirSync(join(dir, "cache"));
  ATTACKS[name]?.(join(dir, "cache", "nacre-0"), dir);
  expect(chosenState(dir)).toBe("/var/tmp/nacre-0/state");
});

test.runIf(isRoot)("the state root is never inside a directory of another user", () => {
  const dir = directory();
  const path = join(dir, "cache", "nacre-0");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chownSync(path, NOBODY, NOBODY);
  expect(chosenState(dir)).toBe("/var/tmp/nacre-0/state");
});

test("the probe does not change the mode of a symbolic link's target", () => {
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

test.runIf(isRoot)("another user cannot connect to the daemon, even if it can reach the socket", async () => {
  const place = newPlace();
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
  // Now only the socket's own mode refuses the connection.
  for (const path of [place.dir, place.state, serve]) chmodSync(path, 0o711);
  expect(connect(...other)).toBe("EACCES\n");
  expect(connect("--no-new-privs")).toBe("connected\n");
});
