import { describe, expect, test } from "vitest";
import { baseEnvironmentOf, jobOf } from "../../src/engine/job.ts";
import { JOB_MAX_BYTES } from "../../src/support/limits.ts";

const base = { PATH: "/bin", HOME: "/h" };
const plan = (variables: Record<string, string>) => ({ workingDir: "/w", stdin: "" as const, variables });

describe("the variables of a command", () => {
  test("are sent with the job if they are few and ordinary", () => {
    expect(jobOf(plan({ A: "1", PATH: "/own" }), base)).toEqual({
      job: { workingDir: "/w", bashEnv: "", stdin: "", variables: ["A=1", "PATH=/own"] },
      environment: undefined,
    });
  });

  test.each(["UID", "IFS", "RANDOM", "BASH_COMPAT", "PWD", "OLDPWD", "LINENO", "EPOCHSECONDS", "__nacre_x"])(
    "need a separate slot if a running bash cannot set %s",
    (name) => {
      expect(jobOf(plan({ [name]: "v", A: "1" }), base)).toEqual({
        job: { workingDir: "/w", bashEnv: "", stdin: "", variables: [] },
        environment: ["PATH=/bin", "HOME=/h", `${name}=v`, "A=1"],
      });
    },
  );

  test("need a separate slot if they are too large for a job", () => {
    expect(jobOf(plan({ BIG: "x".repeat(JOB_MAX_BYTES) }), base).environment).toHaveLength(3);
  });

  test("are measured in bytes, and their size includes the directory", () => {
    const wide = "é".repeat(JOB_MAX_BYTES / 2 + 1);
    expect(jobOf(plan({ WIDE: wide }), base).environment).toBeDefined();
    expect(jobOf({ stdin: "", workingDir: `/${wide}`, variables: {} }, base).environment).toBeDefined();
  });

  test("override the base environment if they have a separate slot", () => {
    expect(jobOf(plan({ PATH: "/own", UID: "1" }), base).environment).toEqual([
      "PATH=/own",
      "HOME=/h",
      "UID=1",
    ]);
  });
});

describe("variables that would prevent a starting bash from reading its job", () => {
  test("are not in the environment of slots, and are sent with the job", () => {
    const early = { ...base, BASH_ENV: "/rc", POSIXLY_CORRECT: "1" };
    expect(baseEnvironmentOf(early)).toEqual(["PATH=/bin", "HOME=/h"]);
    expect(jobOf(plan({}), early)).toEqual({
      job: { workingDir: "/w", bashEnv: "/rc", stdin: "", variables: ["POSIXLY_CORRECT=1"] },
      environment: undefined,
    });
  });

  test("of the caller override the base environment", () => {
    expect(jobOf(plan({ BASH_ENV: "/own" }), { ...base, BASH_ENV: "/rc" }).job.bashEnv).toBe("/own");
    expect(jobOf(plan({ BASH_ENV: "" }), { ...base, BASH_ENV: "/rc" }).job.bashEnv).toBe("");
  });
});
