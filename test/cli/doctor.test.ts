// nacre doctor: its checks, and the row that it marks as failed.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

test("doctor checks everything that nacre needs, and exits with 0 if commands can run", async () => {
  const { code, stdout } = await nacre("doctor");
  expect(code).toBe(0);
  for (const name of [
    "settings",
    "rules",
    "Node",
    "system",
    "state root",
    "bash",
    "tag",
    "reaper",
    "cgroup",
    "bubblewrap",
    "previews",
    "inotify",
  ]) {
    expect(stdout).toMatch(new RegExp(`^(ok|limited) +${name} +\\S`, "m"));
  }
  expect(stdout).toMatch(/\n\n(Everything works|nacre works, with \d limitations?)\.\n$/);
  const json = JSON.parse((await nacre("doctor", "--json")).stdout);
  expect(json).toMatchObject({ ok: true, checks: expect.arrayContaining([]) });
  for (const { status, fix } of json.checks) expect(fix === undefined).toBe(status === "ok");
});

test.each([
  ["settings", "config.json", '{ "policy": "strict" }', "The setting policy must be one of"],
  ["rules", "policy.json", '{ "version": 1, "rules": [ }', "It is not JSON"],
])("an invalid file fails only the row %s, and doctor exits with 1", async (name, file, text, why) => {
  vi.stubEnv("XDG_CONFIG_HOME", join(dir(), "config"));
  mkdirSync(join(dir(), "config/nacre"), { recursive: true });
  writeFileSync(join(dir(), "config/nacre", file), text);
  expect((await nacre("run", "true")).code).toBe(1);
  const { code, stdout } = await nacre("doctor", "--json");
  expect(code).toBe(1);
  const failed = JSON.parse(stdout).checks.filter(({ status }: { status: string }) => status === "failed");
  expect(failed).toMatchObject([{ name, fix: expect.any(String) }]);
  expect(failed[0].detail).toContain(why);
  expect((await nacre("doctor")).stdout).toMatch(/nacre does not work here: 1 problem to fix\.\n$/);
});

test("doctor names an unusable state directory and the remedy, and exits with 1", async () => {
  writeFileSync(join(dir(), "file"), "");
  vi.stubEnv("NACRE_HOME", join(dir(), "file/state"));
  const { code, stdout } = await nacre("doctor");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    new RegExp(
      `^failed +state root +The state directory ${dir()}/file/state cannot be used.*NACRE_HOME`,
      "m",
    ),
  );
  expect(stdout).toMatch(/nacre does not work here: \d problems? to fix\.\n$/);
  vi.stubEnv("NACRE_HOME", join(dir(), "state"));
});
