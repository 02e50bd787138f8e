// Signals and closed pipes over --remote end a command that streams, as they do without --remote.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { isAlive, textOf } from "../fixtures/processes.ts";
import { type RemotePlace, usePlaces } from "./remote-place.ts";

const program = join(root, "dist/cli/main.js");
const newPlace = usePlaces(useLeakProof());
let place: RemotePlace;

beforeAll(() => {
  place = newPlace();
});

interface Nacre {
  readonly child: ChildProcessWithoutNullStreams;
  readonly texts: { stdout: string; stderr: string };
  /** The exit code, or the name of the signal that ended the program. */
  readonly ended: Promise<number | string>;
}

function start(url: string, ...args: readonly string[]): Nacre {
  const child = spawn(process.execPath, [program, "--remote", url, ...args], { env: place.env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk) => {
      texts[name] += chunk;
    });
  child.stdin.on("error", () => {});
  const ended = once(child, "exit").then(([code, signal]) => code ?? signal);
  return { child, texts, ended };
}

/** Runs a command line to its end, and returns its stdout. */
async function nacre(...args: readonly string[]): Promise<string> {
  const { child, texts } = start(place.url, ...args);
  await once(child, "close");
  return texts.stdout;
}

async function startShell(command: string): Promise<string> {
  const id = (await nacre("run", "-b", command)).trim();
  onTestFinished(async () => void (await nacre("kill", id)));
  return id;
}

/** The inotify watches of the daemon. Each follow or wait that still runs there has one. */
function watchedFiles(): string[] {
  const [daemon = 0] = place.daemons();
  const dir = `/proc/${daemon}/fdinfo`;
  return readdirSync(dir).flatMap((fd) => textOf(join(dir, fd)).match(/^inotify wd:.*/gm) ?? []);
}

const SIGNALS = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const;

describe.each(SIGNALS)("%s", (signal, exitCode) => {
  test("ends nacre output --follow", async () => {
    const id = await startShell("echo up; sleep 1000");
    const { child, texts, ended } = start(place.url, "output", "-f", id);
    await eventually(() => expect(texts.stdout).toBe("up\n"));
    expect(watchedFiles()).not.toEqual([]);
    child.kill(signal);
    expect(await ended).toBe(exitCode);
    expect(texts).toEqual({ stdout: "up\n", stderr: "" });
    await eventually(() => expect(watchedFiles()).toEqual([]));
  });

  test("ends nacre output --follow, even if its reader does not read", async () => {
    const id = await startShell("exec cat /dev/zero");
    const { child, ended } = start(place.url, "output", "-f", id);
    await once(child.stdout, "data");
    child.stdout.pause();
    child.kill(signal);
    expect(await ended).toBe(exitCode);
  });

  test.each([
    ["--for", "never"],
    ["--json", "--for", "never"],
  ])("ends nacre wait without a message: %s", async (...options) => {
    const id = await startShell("echo up; sleep 1000");
    const { child, texts, ended } = start(place.url, "wait", id, ...options);
    await eventually(() => expect(watchedFiles()).not.toEqual([]));
    child.kill(signal);
    expect(await ended).toBe(exitCode);
    expect(texts).toEqual({ stdout: "", stderr: "" });
    await eventually(() => expect(watchedFiles()).toEqual([]));
  });

  test("ends nacre run", async () => {
    const { child, texts, ended } = start(place.url, "run", "echo up; sleep 1000");
    await eventually(() => expect(texts.stdout).toBe("up\n"));
    child.kill(signal);
    expect(await ended).toBe(exitCode);
  });

  test("ends nacre ps --watch with exit code 0, as without --remote", async () => {
    await startShell("echo up; sleep 1000");
    const { child, texts, ended } = start(place.url, "ps", "--watch");
    await eventually(() => expect(texts.stdout).toContain("sleep 1000"));
    child.kill(signal);
    expect(await ended).toBe(0);
  });

  test("ends an attempt to connect", async () => {
    const silent = `command:${JSON.stringify(["sh", "-c", `echo $$ >${place.dir}/silent; exec sleep 1000`])}`;
    const { child, ended } = start(silent, "run", "true");
    const client = await eventually(() => {
      const pid = Number(textOf(join(place.dir, "silent")));
      expect(pid).toBeGreaterThan(0);
      return pid;
    });
    rmSync(join(place.dir, "silent"));
    child.kill(signal);
    expect(await ended).toBe(exitCode);
    await eventually(() => expect(isAlive(client)).toBe(false));
  });
});

test("a closed stdout ends nacre output --follow", async () => {
  const id = await startShell("while :; do echo line; sleep 0.02; done");
  const { child, ended } = start(place.url, "output", "-f", id);
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await ended).toBe(141);
});

test("a closed stdout ends nacre run and its command", async () => {
  const pidFile = join(place.work, "printer");
  const { child, ended } = start(
    place.url,
    "run",
    `echo $$ >${pidFile}; while :; do echo x; sleep 0.02; done`,
  );
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await ended).toBe(141);
  const pid = readFileSync(pidFile, "utf8").trim();
  await eventually(() => expect(isAlive(Number(pid))).toBe(false));
});

test("a second signal ends a command whose remote end does not answer", async () => {
  // While the file `down` exists, the link cannot be restored.
  const gate = join(place.dir, "gated.sh");
  writeFileSync(gate, `#!/bin/sh\n[ ! -e ${place.dir}/down ] || exit 1\nexec "$@"\n`);
  chmodSync(gate, 0o755);
  const words = JSON.parse(place.url.slice("command:".length)) as string[];
  const { child, texts, ended } = start(
    `command:${JSON.stringify([gate, ...words])}`,
    "run",
    "echo up; sleep 1000",
  );
  await eventually(() => expect(texts.stdout).toBe("up\n"));
  writeFileSync(join(place.dir, "down"), "");
  for (const pid of place.links()) process.kill(pid, "SIGKILL");
  child.kill("SIGINT");
  await eventually(() => {
    child.kill("SIGINT");
    expect(child.exitCode).not.toBe(null);
  });
  expect(await ended).toBe(130);
  expect(texts.stderr).toMatch(/did not confirm SIGINT.*may still run there/);
});
