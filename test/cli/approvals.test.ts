import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");

/** Runs nacre in a separate process. */
function nacreProcess(...args: string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, [PROGRAM, ...args], (error, _stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stderr }),
    ),
  );
}

const COMMAND = ["--cwd", "work", "find . -delete"] as const;

function createWorkFile(): string {
  mkdirSync(join(dir(), "work"), { recursive: true });
  const file = join(dir(), "work/file");
  writeFileSync(file, "");
  return file;
}

test("a command that needs approval runs after nacre approve", async () => {
  const file = createWorkFile();
  const first = await nacre("run", "--json", ...COMMAND);
  expect(first.code).toBe(3);
  const { error_code, approval_id: id } = JSON.parse(first.stdout);
  expect(error_code).toBe("approval_pending");
  const listed = await nacre("approvals", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject([
    {
      id,
      command: "find . -delete",
      cwd: join(dir(), "work"),
      session: null,
      rule: "delete-workspace",
      reason: expect.stringContaining("find would delete"),
      deadline: expect.stringMatching(/^\d{4}-.*Z$/),
      status: "open",
    },
  ]);
  const approved = await nacre("approve", id);
  expect(approved.stdout).toContain(`Approved ${id}: find . -delete`);
  expect((await nacre("run", ...COMMAND)).code).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect((await nacre("approvals")).stdout).toMatch(/approved \(nacre approve\)/);
});

test("a repeated command fails with the reason given to nacre deny", async () => {
  createWorkFile();
  const { approval_id: id } = JSON.parse((await nacre("run", "--json", ...COMMAND)).stdout);
  expect((await nacre("deny", id, "--reason", "Not today.")).code).toBe(0);
  const again = await nacre("run", ...COMMAND);
  expect(again.code).toBe(3);
  expect(again.stderr).toContain('The answer was: "Not today."');
});

test("an unknown or answered request fails and says why", async () => {
  createWorkFile();
  expect(await nacre("approvals")).toMatchObject({ code: 0, stderr: "There are no approval requests.\n" });
  expect(await nacre("approve", "ask_00000000")).toMatchObject({
    code: 1,
    stderr: "nacre: There is no approval ask_00000000. No approval is open.\n",
  });
  const { approval_id: id } = JSON.parse((await nacre("run", "--json", ...COMMAND)).stdout);
  await nacre("approve", id);
  const late = await nacre("deny", id, "--json");
  expect(late.code).toBe(1);
  expect(JSON.parse(late.stdout)).toMatchObject({ error_code: "conflict" });
  expect(late.stderr).toMatch(/was approved by nacre approve at /);
});

test("if several processes answer at once, only one succeeds, and its answer applies to the command", async () => {
  const verbs = ["approve", "deny", "deny", "approve"];
  for (let round = 0; round < 3; round++) {
    const file = createWorkFile();
    const { approval_id: id } = JSON.parse((await nacre("run", "--json", ...COMMAND)).stdout);
    const answers = await Promise.all(verbs.map((verb) => nacreProcess(verb, id)));
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
    const winner = verbs[answers.findIndex(({ code }) => code === 0)];
    for (const { stderr } of answers.filter(({ code }) => code === 1))
      expect(stderr).toContain(
        winner === "approve" ? "was approved by nacre approve" : "was denied by nacre deny",
      );
    expect((await nacre("run", ...COMMAND)).code).toBe(winner === "approve" ? 0 : 3);
    expect(existsSync(file)).toBe(winner === "deny");
  }
});

test("an id prefix selects an open request, or a request that has ended if no open one matches", async () => {
  createWorkFile();
  const request = async (...command: string[]) =>
    String(JSON.parse((await nacre("run", "--json", ...command)).stdout)["approval_id"]);
  const first = await request(...COMMAND);
  expect((await nacre("approve", "ask")).stdout).toContain(`Approved ${first}`);
  expect((await nacre("approve", "ask")).stderr).toContain(`Approval ${first} was approved`);
  const second = await request("git push --force nowhere main");
  expect((await nacre("deny", "ask")).stdout).toContain(`Denied ${second}`);
  const ambiguous = await nacre("approve", "ask");
  expect(ambiguous.stderr).toContain("Several approvals begin with ask");
  const third = await request("git push --force nowhere one");
  const fourth = await request("git push --force nowhere two");
  const open = await nacre("approve", "ask");
  expect(open.stderr).toBe(`nacre: Several approvals begin with ask: ${third}, ${fourth}.\n`);
});

test("an answer to an expired request is refused with the time of expiry", async () => {
  createWorkFile();
  const { approval_id: id } = JSON.parse((await nacre("run", "--json", ...COMMAND)).stdout);
  const file = join(process.env["NACRE_HOME"] ?? "", "approvals", `${id}.json`);
  const record = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...record, deadline: "2020-01-01T00:00:00.000Z" }));
  for (const verb of ["approve", "deny"]) {
    const late = await nacre(verb, id);
    expect(late.code).toBe(3);
    expect(late.stderr).toContain(`Approval ${id} expired at 2020-01-01T00:00:00.000Z`);
  }
});

test("an answer is remembered, listed and forgotten", async () => {
  createWorkFile();
  const push = ["--json", "git push --force nowhere main"];
  const { approval_id: id } = JSON.parse((await nacre("run", ...push)).stdout);
  expect((await nacre("approve", id, "--for", "1h")).stderr).toContain("--for needs --remember");
  expect((await nacre("approve", id, "--remember", "session")).stderr).toContain(
    "not a command of a session",
  );
  const approved = await nacre("approve", id, "--remember", "workspace", "--for", "1h");
  const [, remembered = ""] = /Remembered as (rem_\w+)/.exec(approved.stdout) ?? [];
  for (let times = 0; times < 2; times++)
    expect(JSON.parse((await nacre("run", ...push)).stdout)).toMatchObject({ error_code: "exit_nonzero" });
  expect(JSON.parse((await nacre("approvals", "--remembered", "--json")).stdout)).toMatchObject([
    { id: remembered, allow: true, lasts: "workspace", workspace: dir(), rules: ["git-lose-work"] },
  ]);
  expect((await nacre("approvals", "--remembered")).stdout).toContain(remembered);
  expect((await nacre("forget", remembered)).stdout).toContain(`Forgot ${remembered}`);
  expect((await nacre("forget", remembered)).stderr).toContain("No answer is remembered.");
  expect(JSON.parse((await nacre("run", ...push)).stdout)).toMatchObject({ error_code: "approval_pending" });
});
