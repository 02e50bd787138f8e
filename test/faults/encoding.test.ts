import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { describeBinary } from "../../src/text/binary.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();

const DRIP = fileURLToPath(new URL("../fixtures/bin/drip.sh", import.meta.url));
// Characters of one to four bytes, one that consists of two code points, and one of several joined by U+200D.
const TEXT = "aé€𝄞 naïve e\u0301 日本語 👩‍👩‍👧 ok\n";

/** Lets the command print byte by byte. Waits until each byte is stored, and then calls `afterByte`. */
async function drip(file: string, lines: PassThrough, afterByte: () => void | Promise<void>): Promise<void> {
  for (let count = 1; count <= Buffer.byteLength(TEXT); count++) {
    lines.write("\n");
    await eventually(() => expect(statSync(file).size).toBe(count));
    await afterByte();
  }
}

test("a live reader gets exact text, even if it arrives one byte at a time", async () => {
  const stdin = new PassThrough();
  const shell = await manager().createShell({ command: `${DRIP} '${TEXT}'`, workingDir: "/", stdin });
  const pieces: string[] = [];
  const reading = (async () => {
    for await (const { text } of shell.output()) pieces.push(text);
  })();
  const file = shell.outputFiles.stdout;
  await drip(file, stdin, async () => {
    const whole = new StringDecoder("utf8").write(readFileSync(file));
    await eventually(() => expect(pieces.join("")).toBe(whole));
  });
  await reading;
  expect(pieces.join("")).toBe(TEXT);
});

test("a reader that polls gets exact text, even if it arrives one byte at a time", async () => {
  const stdin = new PassThrough();
  const shell = await manager().createShell({ command: `${DRIP} '${TEXT}' >&2`, workingDir: "/", stdin });
  const pieces: string[] = [];
  const poll = () => pieces.push(shell.getNewOutput().replace(/^\[stderr\]\n/, ""));
  await drip(shell.outputFiles.stderr ?? "", stdin, () => void poll());
  await shell.wait(20_000);
  poll();
  expect(pieces.join("")).toBe(TEXT);
  expect(pieces.filter((piece) => piece !== "").length).toBeGreaterThan(5);
});

test("a wait matches a line whose characters arrive in pieces", async () => {
  const shell = await manager().createShell({
    command: `${DRIP} '${TEXT}'; exec sleep 300`,
    workingDir: "/",
  });
  const found = await shell.waitFor({ pattern: /日本語 👩‍👩‍👧 ok$/u }, 10_000);
  expect(found).toEqual({ kind: "matched", stream: "stdout", line: TEXT.trimEnd() });
});

test("an incomplete character at the end of the output is shown as one replacement character", async () => {
  const shell = await run(manager(), String.raw`printf 'ok \xe2\x82'`);
  expect(shell.getNewOutput()).toBe("ok \uFFFD");
  const live: string[] = [];
  for await (const { text } of shell.output()) live.push(text);
  expect(live.join("")).toBe("ok \uFFFD");
});

test("binary output is kept byte for byte, and distinguished from text", async () => {
  const copy = join(directory(), "copy");
  const shell = await run(manager(), `head -c 1M /dev/urandom | tee ${copy}`);
  const stored = readFileSync(shell.outputFiles.stdout);
  expect(stored.length).toBe(1024 ** 2);
  expect(stored.equals(readFileSync(copy))).toBe(true);
  expect(describeBinary({ sample: stored, totalBytes: stored.length })).toMatch(
    /^\[binary output: 1048576 bytes/,
  );
});

test("every byte value comes through unchanged", async () => {
  const shell = await run(manager(), String.raw`for i in {0..255}; do printf "\\x$(printf %x $i)"; done`);
  expect([...readFileSync(shell.outputFiles.stdout)]).toEqual(Array.from({ length: 256 }, (_, i) => i));
});

test("CRLF, carriage returns and escape sequences are stored unchanged", async () => {
  const shell = await run(manager(), String.raw`printf 'a\r\n10%%\r20%%\r\n\033[31mred\033[0m\a\b'`);
  expect(shell.getAllOutput()).toBe("a\r\n10%\r20%\r\n\x1b[31mred\x1b[0m\x07\b");
});

test("a command, its directory and its variables are read as UTF-8", async () => {
  const shell = await run(manager(), 'printf %s "ü𝄞 $NAME"; printf %s "€" >&2', { env: { NAME: "日本" } });
  expect(shell.getAllOutput()).toBe("ü𝄞 日本\n[stderr]\n€");
});
