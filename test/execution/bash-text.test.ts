import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("characters", () => {
  test("are complete, even if the command writes them byte by byte", async () => {
    const { bash } = tools();
    const slowly = "for b in '\\xf0' '\\x9f' '\\x98' '\\x80' '\\xc3' '\\xa9'; do printf $b; sleep 0.01; done";
    expect((await bash(slowly)).output).toBe("😀é");
  });

  test("that are invalid are shown as U+FFFD, and the file keeps the bytes", async () => {
    const { start, read } = tools();
    const shell = await start("printf 'a\\xffb\\n\\xe2\\x82'");
    await shell.wait(10_000);
    expect((await read(shell)).output).toContain("a\ufffdb\n\ufffd");
    expect(readFileSync(shell.outputFiles.stdout, "latin1")).toBe("a\xffb\n\xe2\x82");
  });

  test("such as a byte order mark or the NULs of find -print0 count as text", async () => {
    const { bash } = tools();
    expect((await bash("printf '\\xef\\xbb\\xbfx'")).output).toBe("\ufeffx");
    expect((await bash("printf 'a\\0bcd\\0efg\\0'")).output).toBe("a\u2400bcd\u2400efg\u2400");
  });
});

test("binary output is described, not dumped", async () => {
  const { bash, call } = tools();
  const command = "printf '\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR\\0\\0\\0\\1\\xff\\xfe\\xfd'";
  const result = await bash(`${command}; echo warning >&2`);
  expect(result.output).toMatch(
    /^\[binary output: 23 bytes, looks like PNG; the raw bytes are in \/.*\/out\.c\d+\]\n\[stderr\]\nwarning\n$/,
  );
  expect((await call("bash", { command })).output).toMatch(/^\[binary output: 23 bytes, looks like PNG/);
  const large = await bash("head -c 1000000 /dev/urandom");
  expect(large.output).toMatch(
    /^\[binary output: 1000000 bytes(, looks like .*)?; the raw bytes are in .*\]\n$/,
  );
  expect(large.metadata).toMatchObject({ truncated: false });
});

describe("the text on a terminal", () => {
  const bar = "printf 'start\\n 10%%\\r 50%%\\r100%%\\ndone\\n'";
  const colours = "printf '\\e[1;31mred\\e[0m \\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\\\n'";

  test("is returned as a terminal shows it: progress bars in their last state, no escape sequences", async () => {
    const { bash, call } = tools();
    expect((await bash(bar)).output).toBe("start\n100%\ndone\n");
    expect((await bash(colours)).output).toBe("red link\n");
    expect((await call("bash", { command: colours })).output).toBe("red link\n");
  });

  test("is returned unchanged on request", async () => {
    const { bash } = tools({ rawOutput: true });
    expect((await bash(bar)).output).toBe("start\n 10%\r 50%\r100%\ndone\n");
    expect((await bash(colours)).output).toBe(
      "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",
    );
  });
});

describe("secrets", () => {
  const secret = "hush-hush-4711-abcdef";

  test("that commands do not inherit are named once, and redacted in all output", async () => {
    vi.stubEnv("NACRE_TEST_API_KEY", secret);
    const { bash, call, start, read, dir } = tools();
    const first = await bash(`echo "[$NACRE_TEST_API_KEY]"; echo key=${secret}`);
    expect(first.output).toBe("[]\nkey=[redacted:NACRE_TEST_API_KEY]\n");
    const [note = ""] = first.notes.filter((text) => text.startsWith("Not passed on to commands"));
    expect(note).toContain("NACRE_TEST_API_KEY");
    expect(note).not.toContain(secret);
    expect((await bash("true")).notes).toEqual([]);
    expect((await bash("[[ -n $NACRE_TEST_API_KEY ]]")).notes).toEqual([
      "Not passed on to commands (secrets, or variables that inject code): NACRE_TEST_API_KEY",
    ]);
    expect((await bash("false")).notes).toEqual([]);
    expect((await bash("true", {}, { scope: "another" })).notes).toEqual([note]);

    expect((await call("bash", { command: `echo ${secret}` })).output).toBe(
      "[redacted:NACRE_TEST_API_KEY]\n",
    );
    const shell = await start(`echo ${secret}; printf 'prompt ${secret}: '; sleep 300`, { workingDir: dir });
    const waited = await read(shell, { wait_for: "prompt" });
    expect(waited.output).toContain("[redacted:NACRE_TEST_API_KEY]\n");
    expect(waited.toDisplay()).toContain("prompt [redacted:NACRE_TEST_API_KEY]:");
    expect(JSON.stringify(waited.toWire())).not.toContain(secret);
  });

  test("are redacted by value, for any name of the variable", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const { bash } = tools();
    expect((await bash(`echo "$HOLDER"`, {}, { env: { HOLDER: token } })).output).toMatch(
      /^\[redacted:.+\]\n$/,
    );
  });

  test("are shown if the host turns redaction off", async () => {
    vi.stubEnv("NACRE_TEST_API_KEY", secret);
    expect((await tools({ redact: false }).bash(`echo ${secret}`)).output).toBe(`${secret}\n`);
  });
});

describe("output over the limit", () => {
  const NOTICE =
    /^\[Output truncated at 30000 characters: (\d+) characters and (\d+) lines left out here, of (\d+) characters and (\d+) lines; the whole output is in (.+)\]$/m;

  test("keeps its head and its tail, with a notice between them that has exact counts", async () => {
    const result = await tools().bash("seq 1 100000");
    const whole = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join("");
    const found = NOTICE.exec(result.output);
    const [line = "", characters, lines, allCharacters, allLines, file] = found ?? [];
    const head = result.output.slice(0, found?.index);
    const tail = result.output.slice((found?.index ?? 0) + line.length + 1);
    expect(whole.startsWith(head)).toBe(true);
    expect(whole.endsWith(tail)).toBe(true);
    expect(Number(characters)).toBe(whole.length - head.length - tail.length);
    expect(Number(lines)).toBe(whole.slice(head.length, -tail.length).split("\n").length - 1);
    expect([Number(allCharacters), Number(allLines)]).toEqual([whole.length, 100_000]);
    expect(result.metadata).toMatchObject({ truncated: true, output_file: file });
    expect(result.output.length).toBeLessThanOrEqual(30_000);
    expect(Math.min(head.length, tail.length)).toBeGreaterThan(14_000);
    expect(readFileSync(String(file), "utf8")).toBe(whole);
  });

  test("marks the start of stderr even if truncation removes that line", async () => {
    const { bash } = tools();
    for (const [out, err] of [
      [3_000, 20_000],
      [20_000, 3_000],
      [20_000, 20_000],
      [200_000, 200_000],
      [200_000, 10],
    ]) {
      const result = await bash(`yes out | head -n ${out}; yes err | head -n ${err} >&2`);
      expect(result.output.length).toBeLessThanOrEqual(30_000);
      const shown = result.output.split("\n").filter((line) => line !== "" && !line.startsWith("[Output"));
      const at = shown.indexOf("[stderr]");
      expect(new Set(shown.slice(0, at))).toEqual(new Set(["out"]));
      expect(new Set(shown.slice(at + 1))).toEqual(new Set(["err"]));
      expect(result.output).toMatch(/; the whole output is in \S+\/out\S* \(stderr: \S+\/err\S*\)\]\n/);
    }
  });

  test("is truncated at the host's limit, even if that limit is larger than the default", async () => {
    const small = await tools({ maxOutputChars: 500 }).bash("seq 1 1000");
    expect(small.output.length).toBeLessThanOrEqual(500);
    expect(small.output).toContain("[Output truncated at 500 characters");
    const large = await tools({ maxOutputChars: 2_000_000 }).bash("seq 1 100000");
    expect(large.metadata).toMatchObject({ truncated: false });
    expect(large.output).toHaveLength(588_895);
  });
});
