// A redirection by `exec` lasts until its command ends. Each command starts with the session's own stdout and
// stderr.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

test("exec >file collects the output of its own command, and the next command prints as usual", async () => {
  const { run, dir } = openSession(shells);
  expect(await run("exec >collected 2>&1; echo kept; echo error >&2")).toMatchObject({ out: "", err: "" });
  expect(readFileSync(join(dir, "collected"), "utf8")).toBe("kept\nerror\n");
  expect(await run("echo shown; echo apart >&2")).toMatchObject({ out: "shown\n", err: "apart\n" });
  expect(readFileSync(join(dir, "collected"), "utf8")).toBe("kept\nerror\n");
});

test("exec 2>&1 merges the streams of its own command only", async () => {
  const { run } = openSession(shells);
  expect(await run("exec 2>&1; echo one >&2")).toMatchObject({ out: "one\n", err: "" });
  expect(await run("echo two >&2")).toMatchObject({ out: "", err: "two\n" });
});
