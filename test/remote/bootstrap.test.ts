// The programs and space that nacre needs on a remote machine, and the refusal of machines without them.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  checkMachine,
  checkSpace,
  isUsableNode,
  readFacts,
} from "../../src/remote/bootstrap/machine-facts.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { type RemotePlace, usePlaces } from "./remote-place.ts";

const newPlace = usePlaces(useLeakProof());

const GOOD = [
  "system Linux",
  "arch x86_64",
  "libc glibc",
  "bash /bin/bash",
  "tar /bin/tar",
  "gzip /bin/gzip",
  "base /b",
  "free 100",
];
const facts = (...lines: readonly string[]) => readFacts(lines.map((line) => `nacre-probe ${line}`));
const without = (name: string) => facts(...GOOD.filter((line) => !line.startsWith(`${name} `)));

test("a complete machine is accepted", () => {
  expect(checkMachine("u", facts(...GOOD))).toBe("/b");
  expect(facts(...GOOD, "node v22.1.0 /opt/my node").nodes).toEqual([
    { version: "v22.1.0", path: "/opt/my node" },
  ]);
});

test.each([
  ["system", /an unknown system.*Linux only/],
  ["bash", /no bash.*Install the package bash/],
  ["tar", /no tar.*Install the package tar/],
  ["gzip", /no gzip/],
  ["base", /no directory from which programs can run.*noexec.*XDG_CACHE_HOME/s],
])("a machine without %s is refused", (name, message) => {
  expect(() => checkMachine("ssh://h", without(name))).toThrow(message);
});

test("a machine with too little space is refused, and the error names both sizes", () => {
  expect(() => checkSpace("ssh://h", facts(...GOOD), 50_000_000)).toThrow(
    /\/b has 1 MB of free space, and nacre needs 67 MB/,
  );
});

test.each([
  ["free 0", 0],
  ["free 7", 7 * 1024],
  ["free", undefined],
  ["free -", undefined],
  ["free -5", undefined],
])("the probe line %j means %s free bytes", (line, bytes) => {
  expect(facts(line).freeBytes).toBe(bytes);
});

test("a full disk is refused", () => {
  expect(() => checkSpace("u", facts("base /b", "free 0"), 1)).toThrow(/\/b has 0 MB of free space/);
});

test.each([
  ["v20.18.9", false],
  ["v20.19.0", true],
  ["v18.20.0", false],
  ["v24.1.0", true],
  ["nonsense", false],
])("Node %s is usable: %s", (version, usable) => {
  expect(isUsableNode(version)).toBe(usable);
});

/** Creates a remote end with only these programs in its PATH. */
function placeWith(programs: readonly string[]): RemotePlace {
  const place = newPlace();
  const bin = join(place.dir, "bin");
  mkdirSync(bin);
  for (const name of programs) {
    const found = ["/usr/bin", "/bin"]
      .map((dir) => join(dir, name))
      .find((path) => statSync(path, { throwIfNoEntry: false }));
    if (found !== undefined) symlinkSync(found, join(bin, name));
  }
  const client = join(place.dir, "client.sh");
  writeFileSync(client, readFileSync(client, "utf8").replace('PATH="$PATH"', `PATH=${bin}`));
  chmodSync(client, 0o755);
  return place;
}

const BASIC = [
  "sh",
  "id",
  "uname",
  "mkdir",
  "rmdir",
  "chmod",
  "df",
  "ls",
  "stat",
  "rm",
  "mv",
  "cat",
  "readlink",
  "env",
];

test("a machine without bash is refused before anything is pushed", async () => {
  const place = placeWith([...BASIC, "tar", "gzip"]);
  await expect(createToolkit({ remote: place.url })).rejects.toThrow(/has no bash/);
  expect(
    readdirSync(join(place.dir, "home"), { recursive: true }).some((name) =>
      String(name).endsWith("main.js"),
    ),
  ).toBe(false);
});

test("a second connection finds the pushed build", async () => {
  const place = placeWith([...BASIC, "tar", "gzip", "bash", "grep", "sleep", "ps", "ln", "mkfifo"]);
  for (const round of [1, 2]) {
    const kit = await createToolkit({ remote: place.url });
    expect((await kit.run(`echo ${round}`)).stdout).toBe(`${round}\n`);
    await kit.dispose();
  }
  const [cache = ""] = readdirSync(join(place.dir, "home/.cache"));
  const kept = readdirSync(join(place.dir, "home/.cache", cache));
  expect(kept.filter((name) => /^[0-9a-f]{16}$/.test(name))).toHaveLength(1);
});

test("an unusable state root is refused before the greeting", async () => {
  const place = newPlace();
  writeFileSync(place.state, "a file");
  await expect(createToolkit({ remote: place.url })).rejects.toThrow(/state directory .* cannot be used/);
});

test.each(["/nonexistent/bin", "/etc/passwd"])(
  "a client program that is missing in PATH=%s is named with its package",
  async (directory) => {
    const path = process.env["PATH"];
    try {
      process.env["PATH"] = directory;
      await expect(createToolkit({ remote: "docker://box" })).rejects.toThrow(
        /docker was not found on PATH.*apt-get install docker.io/s,
      );
    } finally {
      process.env["PATH"] = path;
    }
  },
);
