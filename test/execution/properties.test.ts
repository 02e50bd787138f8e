// Properties that hold for every output, tested with real commands that print random output.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sizeOf } from "../../src/engine/cursor.ts";
import { BashTool } from "../../src/execution/bash.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

const NOTHING = "(no new output since last check)";
const body = (output: string) => {
  const text = output.slice(output.indexOf("\n\n") + 2);
  return text === NOTHING ? "" : text;
};

/** Text with characters of many widths, in lines of many lengths. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }).map((words) => words.replace(/\p{C}/gu, "")),
      fc.constantFrom("\n", "\n", "é€😀\n", "👩‍👩‍👧", "e\u0301".repeat(20), "x".repeat(90)),
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((parts) => parts.join(""));

/** The bytes of a text, divided anywhere, even inside characters. */
const pieces = fc
  .tuple(text, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }))
  .map(([whole, cuts]) => {
    const bytes = Buffer.from(whole);
    const at = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length];
    return { whole, parts: at.slice(1).map((end, i) => bytes.subarray(at[i], end)) };
  });

/** Makes the shell print the pieces one by one, and calls `read` after each piece. */
async function print(
  { shell, say }: { shell: ShellProcess; say(line: string): void },
  parts: readonly Buffer[],
  read: () => Promise<void> | void,
): Promise<void> {
  let expected = sizeOf(shell.outputFiles.stdout);
  for (const part of parts.filter(({ length }) => length > 0)) {
    // Write each piece to a new file, because `cat` may still have the previous file open.
    const name = `piece-${expected}`;
    writeFileSync(join(shell.workingDir, name), part);
    expected += part.length;
    say(`cat ${name}`);
    await eventually(() => expect(sizeOf(shell.outputFiles.stdout)).toBe(expected));
    await read();
  }
}

describe("for every output", () => {
  test("the shown text never exceeds the limit and never splits a character", async () => {
    const { manager, context, dir } = tools();
    await fc.assert(
      fc.asyncProperty(text, fc.nat({ max: 700 }), async (whole, maxOutputChars) => {
        writeFileSync(join(dir, "text"), whole);
        const tool = new BashTool({ manager, maxOutputChars, redact: false });
        const { output, metadata } = await tool.execute(context(), { command: "cat text" });
        expect(output.length).toBeLessThanOrEqual(maxOutputChars);
        expect(output).not.toMatch(/[\ud800-\udfff\ufffd]/u);
        expect(metadata.truncated).toBe(whole.length > maxOutputChars);
        if (!metadata.truncated) expect(output).toBe(whole);
      }),
      { numRuns: 40 },
    );
  });

  test("the reads of getNewOutput() add up to the complete output, wherever it was cut", async () => {
    const talking = await tools().talker();
    await fc.assert(
      fc.asyncProperty(pieces, async ({ whole, parts }) => {
        let read = "";
        await print(talking, parts, () => {
          read += talking.shell.getNewOutput();
        });
        expect(read).toBe(whole);
      }),
      { numRuns: 25 },
    );
  });

  test("the reads of BashOutput add up to the complete output, and concurrent readers get each line once", async () => {
    const kit = tools({ redact: false, maxOutputChars: 1e6 });
    const talking = await kit.talker();
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 4 }), async ({ whole, parts }, readers) => {
        const ended = [...parts, Buffer.from("\n")];
        let read = "";
        await print(talking, ended, async () => {
          const results = await Promise.all(Array.from({ length: readers }, () => kit.read(talking.shell)));
          const bodies = results.map(({ output }) => body(output));
          expect(bodies.every((text) => text === "" || text.endsWith("\n"))).toBe(true);
          expect(bodies.filter((text) => text !== "").length).toBeLessThanOrEqual(1);
          read += bodies.join("");
        });
        expect(read).toBe(`${whole}\n`);
      }),
      { numRuns: 25 },
    );
  });

  test("a filter shows exactly the matching lines, and later reads do not return the dropped lines", async () => {
    const kit = tools({ redact: false, maxOutputChars: 1e6 });
    const talking = await kit.talker();
    const sources = fc.constantFrom("^x", "é", "[0-9]$", "^$", "e.*x", ".");
    await fc.assert(
      fc.asyncProperty(pieces, sources, async ({ whole, parts }, filter) => {
        let read = "";
        let skipped = 0;
        await print(talking, [...parts, Buffer.from("\n")], async () => {
          const { output, notes } = await kit.read(talking.shell, { filter });
          read += body(output);
          skipped += Number(/left out (\d+) line/.exec(notes.join())?.[1] ?? 0);
        });
        const lines = whole.split("\n");
        const matching = lines.filter((line) => new RegExp(filter, "u").test(line));
        expect(read).toBe(matching.map((line) => `${line}\n`).join(""));
        expect(skipped).toBe(lines.length - matching.length);
      }),
      { numRuns: 25 },
    );
  });
});

test("two readers of a shell that keeps printing get each line exactly once", async () => {
  const { start, read } = tools({ maxOutputChars: 1e6 });
  const shell = await start("for i in {1..2000}; do echo $i; done");
  const seen: string[] = [];
  const readAll = async () => {
    let running = true;
    while (running) {
      const { output, metadata } = await read(shell, { wait_ms: 5_000 });
      running = metadata["is_running"] === true;
      seen.push(
        ...body(output)
          .split("\n")
          .filter((line) => line !== ""),
      );
    }
  };
  await Promise.all([readAll(), readAll()]);
  expect(seen.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 2000 }, (_, i) => i + 1));
});

test("output that arrives during a wait is complete when the shell has ended", async () => {
  const { start, read } = tools();
  const dir = directory();
  const gate = join(dir, "gate");
  writeFileSync(gate, "");
  const shell = await start("tail -f gate | head -n 1; echo after", { workingDir: dir });
  appendFileSync(gate, "opened\n");
  const result = await read(shell, { wait_for: "exit" });
  expect(body(result.output)).toBe("opened\nafter\n");
});
