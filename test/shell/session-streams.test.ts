// What stays of a session's streams from command to command: `$?`, descriptors, files of earlier output.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells();

describe("the exit code of the command before", () => {
  test.each([
    "set -u",
    "set -x",
    "set -a",
    "set -v",
    "trap : DEBUG",
    "trap : RETURN",
    "trap 'x=1' ERR",
    "set -uxa; trap : DEBUG",
  ])("is $? under %s", async (setting) => {
    const { run } = openSession(shells);
    await run(setting);
    await run("(exit 7)");
    expect((await run('printf "%s\\n" "$?"')).out).toBe("7\n");
    expect((await run("true")).err).not.toMatch(/return|exit/);
  });
});

test("a descriptor made of the output prints into the command that uses it, also after a long output or a leftover", async () => {
  const { run } = openSession(shells);
  await run("exec 3>&1 4>&2");
  await run("seq 20000");
  expect(await run("echo two >&3; echo err >&4")).toMatchObject({ out: "two\n", err: "err\n" });
  const { out } = await run("sleep 300 & echo $!");
  expect(await run("echo three >&3")).toMatchObject({ out: "three\n" });
  await run(`kill ${out}`);
});

test("what a leftover prints later, and files that a result has named, stay after many long outputs", async () => {
  const { run, session } = openSession(shells);
  const left = await run(
    "(read -r < <(sleep 300 & echo $! > pid; wait); echo late) 2>/dev/null & echo begun",
  );
  const named = await run("seq 10000");
  const file = named.fileOf("stdout");
  for (let count = 0; count < 80; count++) await run("seq 10000");
  expect(readFileSync(file, "utf8")).toMatch(/^1\n2\n[\s\S]*\n10000\n$/);
  expect(existsSync(left.remains?.outputFiles.stdout ?? "")).toBe(true);
  await run("kill $(cat pid)");
  await session.close();
}, 60_000);
