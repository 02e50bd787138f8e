import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

test("the seventeenth concurrent command of a scope waits and reports the wait; other scopes do not wait", async () => {
  const { bash } = tools();
  const gate = directory();
  const command = `mkfifo ${gate}/$$ && read -r < ${gate}/$$; echo through`;
  const messages: string[] = [];
  const onProgress = ({ message }: { message: string }) => messages.push(message);
  const running = Array.from({ length: 16 }, (_, i) =>
    bash(command, {}, { scope: "crowd", sessionId: `${i}` }),
  );
  await eventually(() => expect(readdirSync(gate)).toHaveLength(16), 15_000);
  const late = bash("echo late", {}, { scope: "crowd", sessionId: "late", onProgress });
  const cancelled = new AbortController();
  const never = bash("echo never", {}, { scope: "crowd", sessionId: "never", signal: cancelled.signal });
  expect((await bash("echo free", {}, { scope: "elsewhere" })).output).toBe("free\n");
  expect(messages).toEqual([
    "Waiting: 16 commands are already running, and 0 others are waiting before this one.",
  ]);
  cancelled.abort("not needed any more");
  expect(await never).toMatchObject({
    code: "aborted",
    error: "Call to Bash was aborted: not needed any more",
  });
  const opened = await bash(
    `for i in {1..16}; do until f=$(ls ${gate} | head -n 1) && [[ $f ]]; do :; done; echo > ${gate}/$f; rm ${gate}/$f; done`,
    {},
    { scope: "elsewhere" },
  );
  expect(opened.success).toBe(true);
  expect((await late).output).toBe("late\n");
  expect((await Promise.all(running)).map(({ output }) => output)).toEqual(Array(16).fill("through\n"));
});
