import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readIdentity } from "../../src/engine/identity.ts";
import { readStat } from "../../src/engine/process-table.ts";
import { useDirectories } from "../fixtures/directories.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager } = useShells();
const directory = useDirectories();
const LINE = "12 3400 13 3401 4611686018427387903 6b8b4567-aaaa-bbbb-cccc-327b23c6643c 4026531836\n";

function reading(text: string): unknown {
  const path = join(directory(), "identity");
  writeFileSync(path, text);
  return readIdentity(path);
}

test("an identity names the shim, the command, the tag, the boot and the namespace", () => {
  expect(reading(LINE)).toEqual({
    shimPid: 12,
    shimStart: "3400",
    commandPid: 13,
    commandStart: "3401",
    tag: "4611686018427387903",
    bootId: "6b8b4567-aaaa-bbbb-cccc-327b23c6643c",
    pidNamespace: "4026531836",
  });
});

test("an identity can contain the key of its host", () => {
  const tag = "4611686018427387903";
  expect(reading(LINE.replace(tag, `${tag}:4503599627370495`))).toMatchObject({
    tag,
    key: "4503599627370495",
  });
  expect(reading(LINE.replace(tag, `${tag}:`))).toBeUndefined();
  expect(reading(LINE.replace(tag, "-:5"))).toBeUndefined();
});

test("an identity without a tag is valid", () => {
  expect(reading(LINE.replace("4611686018427387903", "-"))).toMatchObject({ tag: "-" });
});

test("an identity that is truncated at any byte is invalid", () => {
  for (let length = 0; length < LINE.length; length++) expect(reading(LINE.slice(0, length))).toBeUndefined();
});

test.each([
  ["with a PID that is not a number", LINE.replace("12 ", "-1 ")],
  ["with an extra field", LINE.replace("\n", " 5\n")],
  ["with a second line", LINE + LINE],
  ["of random text", "random\n"],
])("an identity %s is invalid", (_, text) => {
  expect(reading(text)).toBeUndefined();
});

test("a missing identity is invalid", () => {
  expect(readIdentity(join(directory(), "none"))).toBeUndefined();
});

test("the identity that a shim writes matches the process table", async () => {
  const shell = await manager().createShell({ command: "sleep 300", workingDir: tmpdir() });
  const { files, shimPid, commandPid } = shell.started;
  expect(readIdentity(files.identity)).toMatchObject({
    shimPid,
    shimStart: readStat(shimPid)?.startTime,
    commandPid,
    commandStart: readStat(commandPid)?.startTime,
    bootId: readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim(),
  });
});
