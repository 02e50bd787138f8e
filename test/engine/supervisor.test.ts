// The first process of a sandboxed session, without the sandbox.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, openSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useDirectories } from "../fixtures/directories.ts";
import { BASH } from "../fixtures/keepers.ts";

const directory = useDirectories();
const SUPERVISOR = new URL("../../src/engine/supervisor.sh", import.meta.url).pathname;

test("bash reads its script from an unnamed pipe, which the supervisor keeps open until the host opens it", async () => {
  const dir = directory();
  const report = join(dir, "report");
  execFileSync("mkfifo", [report]);
  const fd = openSync(report, "r+");
  const supervisor = spawn(BASH, [SUPERVISOR, BASH], {
    stdio: ["pipe", "ignore", "ignore", ...Array<"ignore">(6).fill("ignore"), fd],
  });
  const control = supervisor.stdin;
  if (!control) throw new Error("no stdin");
  const reports = createReadStream("", { fd, encoding: "latin1" });
  control.write(`token\0${dir}\0`);
  let reported = "";
  let link = "";
  try {
    for await (const chunk of reports) {
      reported += chunk;
      const pid = /^P\0token\0(\d+)\0\n/.exec(reported)?.[1];
      if (pid !== undefined && link === "") {
        link = readlinkSync(`/proc/${pid}/fd/0`);
        const script = `printf 'b\\0%s\\0%s\\0\\n' "$PWD" "$$" 1<>'${report}'; exit 7\n`;
        writeFileSync(`/proc/${pid}/fd/0`, script);
        control.write("held\0");
      }
      if (reported.includes("\nE\0")) break;
    }
  } finally {
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
  }
  expect(link).toMatch(/^pipe:/);
  const [first, second, third] = reported.split("\n").map((line) => line.split("\0"));
  expect([first?.[0], second?.[0], third?.[0]]).toEqual(["P", "b", "E"]);
  expect(second?.[1]).toBe(dir);
  expect(second?.[2]).toBe(first?.[2]);
  expect(third?.[2]).toBe("7");
});
