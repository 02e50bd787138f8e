import { describe, expect, test } from "vitest";
import { hasNew, takeNew } from "../../src/execution/take-new.ts";
import { SCAN_PIECE_BYTES } from "../../src/support/limits.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, manager, run } = useTools();

describe("new output", () => {
  test("is returned once, up to the last complete line while the shell runs", async () => {
    const { shell, say } = await tools().talker();
    expect(hasNew(shell, "r")).toBe(false);
    say("printf 'ab\\ncd'; printf 'x\\n' >&2");
    await shell.waitFor({ pattern: /cd/ }, 10_000);
    await shell.waitFor({ pattern: /x/ }, 10_000);
    expect(hasNew(shell, "r")).toBe(true);
    expect(takeNew(shell, "r", true)).toMatchObject({
      stdout: { from: 0, to: 3 },
      stderr: { from: 0, to: 2 },
    });
    expect(hasNew(shell, "r")).toBe(false);
    expect(takeNew(shell, "r", true)).toMatchObject({
      stdout: { from: 3, to: 3 },
      stderr: { from: 2, to: 2 },
    });
    expect(takeNew(shell, "r", false)).toMatchObject({ stdout: { from: 3, to: 5 } });
    expect(takeNew(shell, "another", false)).toMatchObject({ stdout: { from: 0, to: 5 } });
  });

  test("ends at the last newline, even if that newline is many pieces back", async () => {
    const shell = await run(manager(), `printf 'a\\n'; head -c ${2 * SCAN_PIECE_BYTES} /dev/zero`);
    expect(takeNew(shell, "", true).stdout).toMatchObject({ from: 0, to: 2 });
    expect(takeNew(shell, "", true).stdout).toMatchObject({ from: 2, to: 2 });
    expect(takeNew(shell, "", false).stdout).toMatchObject({ from: 2, to: 2 + 2 * SCAN_PIECE_BYTES });
  });
});
