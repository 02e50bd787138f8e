// The file tools exchange messages with a worker inside the sandbox. They replace a dead worker and refuse
// invalid answers.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readLoadAnswer, readLocated, readMessage, readStoreAnswer } from "../../src/files/worker/answers.ts";
import { encodeFrame, FrameReader } from "../../src/files/worker/frames.ts";
import { useFileTools } from "../fixtures/file-tools.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";

describe("a frame", () => {
  test("is read completely, wherever its bytes are split", () => {
    const messages = [
      { id: 1, text: "ä\ud800" },
      { id: 2, bytes: Buffer.from([0, 255]) },
    ];
    const all = Buffer.concat(messages.map(encodeFrame));
    for (let size = 1; size <= all.length; size++) {
      const reader = new FrameReader(1_000);
      const found: unknown[] = [];
      for (let at = 0; at < all.length; at += size) found.push(...reader.push(all.subarray(at, at + size)));
      expect(found).toEqual([
        { id: 1, text: "ä\ud800" },
        { id: 2, bytes: "AP8=" },
      ]);
    }
  });

  test("that is too long or not JSON is refused", () => {
    const long = Buffer.alloc(8);
    long.writeUInt32BE(2_000);
    expect(() => new FrameReader(1_000).push(long)).toThrow("2000 bytes");
    expect(() => new FrameReader(1_000).push(Buffer.from([0, 0, 0, 1, 123]))).toThrow();
  });
});

test.each([
  [readMessage, { id: -1 }],
  [readMessage, { id: 1, error: { code: "rm -rf", message: "" } }],
  [readLocated, { real: "relative", missingDirs: 0, nearest: [] }],
  [readLocated, { real: "/a", kind: "password", missingDirs: 0, nearest: [] }],
  [readLocated, { real: "/a", missingDirs: 0, nearest: Array(100).fill("x") }],
  [readLoadAnswer, { kind: "loaded", identity: {}, hardLinks: 1, bytes: "" }],
  [readLoadAnswer, { kind: "loaded" }],
  [
    readStoreAnswer,
    { kind: "stored", identity: { dev: "1", ino: "x", size: 1, mtimeNs: "1" }, hardLinks: 1 },
  ],
  [readStoreAnswer, null],
])("an answer of the wrong shape is refused (%#)", (read, value) => {
  expect(() => read(value)).toThrow();
});

describeSandboxed("the file tools in a sandbox", () => {
  const world = useFileTools({ sandbox: "workspace-write", policy: "off" });
  const { kit, path } = world;

  test("use the same files as commands", async () => {
    await kit().call("Bash", { command: "mkdir sub; printf 'one\\r\\ntwo\\r\\n' > sub/a.txt; cd sub" });
    expect((await kit().call("Read", { file_path: "a.txt" })).output).toBe("1\tone\n2\ttwo\n");
    const edit = { file_path: "a.txt", old_string: "one\ntwo", new_string: "1\n2" };
    expect(await kit().call("Edit", edit)).toMatchObject({ success: true });
    expect(readFileSync(path("sub/a.txt"), "utf8")).toBe("1\r\n2\r\n");
    expect(await kit().call("Write", { file_path: "x/y.txt", content: "y\n" })).toMatchObject({
      success: true,
    });
    expect((await kit().call("Bash", { command: "cat x/y.txt" })).output).toBe("y\n");
    expect((await kit().call("Glob", { pattern: "**" })).output).toBe("a.txt\nx/y.txt\n");
    expect((await kit().call("Grep", { pattern: "y", output_mode: "content" })).output).toBe("x/y.txt:1:y\n");
    expect(readdirSync(path("sub/x"))).toEqual(["y.txt"]);
  });

  test("a large file passes through the worker unchanged", async () => {
    const text = `${"0123456789".repeat(1_000_000)}MARK\n`;
    writeFileSync(path("large"), text);
    await kit().call("Read", { file_path: "large" });
    const edit = { file_path: "large", old_string: "MARK", new_string: "!" };
    expect(await kit().call("Edit", edit)).toMatchObject({ success: true });
    expect(readFileSync(path("large"), "utf8") === text.replace("MARK", "!")).toBe(true);
  });

  test("a worker that was killed is replaced", async () => {
    mkdirSync(path("d"));
    writeFileSync(path("a"), "a\n");
    expect(await kit().call("Read", { file_path: "a" })).toMatchObject({ success: true });
    const [worker] = kit()
      .manager.findAll()
      .filter(({ command }) => command.startsWith("// nacre: the file tools"));
    expect(worker?.started.meta).toMatchObject({ role: "worker", session: null });
    await worker?.kill();
    expect(await kit().call("Read", { file_path: "a" })).toMatchObject({ success: true });
  });

  test("show in the error about a stale file what a command has changed", async () => {
    writeFileSync(path("a"), "one\n");
    await kit().call("Read", { file_path: "a" });
    await kit().call("Bash", { command: "echo two > a" });
    const edit = { file_path: "a", old_string: "one", new_string: "1" };
    const result = await kit().call("Edit", edit);
    expect([result.code, result.error]).toEqual(["stale_file", expect.stringContaining("-1\tone\n+1\ttwo")]);
  });
});
