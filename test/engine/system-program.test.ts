// System programs that nacre runs to completion.
import { expect, test } from "vitest";
import { runPipeline, runSystemProgram } from "../../src/engine/system-program.ts";

test("runSystemProgram returns the exit code and the output", async () => {
  const { code, stdout, stderr } = await runSystemProgram(["sh", "-c", "cat; echo why >&2; exit 3"], {
    input: Buffer.from("text"),
  });
  expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 3, stdout: "text", stderr: "why" });
});

test("runPipeline rejects with an error that the output callback throws, and ends every program", async () => {
  const failure = new RangeError("too much");
  let calls = 0;
  const onStdout = () => {
    calls++;
    throw failure;
  };
  // Neither program exits by itself while its output is read.
  await expect(runPipeline([["yes"], ["cat"]], { onStdout })).rejects.toBe(failure);
  expect(calls).toBe(1);
});
