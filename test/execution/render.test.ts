import { describe, expect, test } from "vitest";
import { resolveExecutionOptions } from "../../src/execution/execution-options.ts";
import { render, sanitizerFor } from "../../src/execution/render.ts";
import { compilePattern } from "../../src/text/pattern.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

describe("rendering", () => {
  test("puts stdout first, then stderr under its heading, and names no file if the output is complete", async () => {
    const shells = manager();
    const options = resolveExecutionOptions({ manager: shells });
    const texts = {
      "printf a; printf b >&2": "a\n[stderr]\nb",
      "echo a; echo b >&2": "a\n[stderr]\nb\n",
      "echo b >&2": "[stderr]\nb\n",
      "printf '\\n'": "\n",
      true: "",
    };
    for (const [command, text] of Object.entries(texts)) {
      const shell = await run(shells, command);
      expect(await render(shell.outputParts, options)).toEqual({
        text,
        truncated: false,
        outputFile: undefined,
        skipped: 0,
      });
    }
  });

  test("names the stderr file as the complete output if the command printed only to stderr", async () => {
    const shells = manager();
    const options = resolveExecutionOptions({ manager: shells, maxOutputChars: 1_000 });
    const shell = await run(shells, "seq 1 1000 >&2");
    expect(await render(shell.outputParts, options)).toMatchObject({
      truncated: true,
      outputFile: shell.outputFiles.stderr,
    });
  });

  test("drops the stderr heading if a filter matches no line of stderr", async () => {
    const shells = manager();
    const options = resolveExecutionOptions({ manager: shells });
    const shell = await run(shells, "echo yes; echo no >&2");
    expect(await render(shell.outputParts, options, { filter: compilePattern("yes") })).toMatchObject({
      text: "yes\n",
      skipped: 1,
    });
  });

  test("sanitizes the text according to the host's options", () => {
    const shells = manager();
    const text = "\x1b[31mred\x1b[0m";
    expect(sanitizerFor(resolveExecutionOptions({ manager: shells }))(text)).toBe("red");
    expect(sanitizerFor(resolveExecutionOptions({ manager: shells, rawOutput: true }))(text)).toBe(text);
  });
});
