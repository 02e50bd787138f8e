import { describe, expect, test } from "vitest";
import { CAUSE_KINDS, type Cause, type ExitRecord } from "../../src/engine/end-record.ts";
import { bashRecord } from "../../src/session/detached-bash.ts";
import { codeOf, decideOutcome, describeOutcome, type Outcome, signalOf } from "../../src/shell/outcome.ts";

const exit = (code: number): ExitRecord => ({ ...bashRecord({ exitCode: code }), endedUptimeMs: 1 });
const cause = (kind: Cause["kind"], detail = "x"): Cause => ({ kind, detail });

describe("while there is no record", () => {
  test("a shell that never started has this outcome, even without an exit record", () => {
    const record = { exit: "pending", cause: cause("never-started") } as const;
    expect(decideOutcome({ record, shimAlive: false, fault: undefined })).toMatchObject({
      kind: "failedToStart",
    });
  });

  const others = CAUSE_KINDS.filter((kind) => kind !== "never-started");
  test.each([undefined, ...others.map((kind) => cause(kind))])(
    "a shell with the cause %j runs while its shim lives and is lost afterwards",
    (why) => {
      for (const [state, reason] of [
        ["pending", "its shim ended without leaving an exit record"],
        ["corrupt", "its exit record cannot be read"],
      ] as const) {
        for (const fault of [undefined, "cwd"]) {
          const record = { exit: state, cause: why };
          expect(decideOutcome({ record, shimAlive: true, fault })).toBeUndefined();
          expect(decideOutcome({ record, shimAlive: false, fault })).toEqual({ kind: "lost", reason });
        }
      }
    },
  );
});

describe("once there is a record", () => {
  test.each<[number, Cause | undefined, Outcome]>([
    [0, undefined, { kind: "exited", code: 0 }],
    [3, undefined, { kind: "exited", code: 3 }],
    [128, undefined, { kind: "exited", code: 128 }],
    [137, undefined, { kind: "signaled", signal: "SIGKILL", code: 137 }],
    [143, undefined, { kind: "signaled", signal: "SIGTERM", code: 143 }],
    [255, undefined, { kind: "exited", code: 255 }],
    [137, cause("killed", "me"), { kind: "killed", by: "me", code: 137 }],
    [0, cause("killed", "me"), { kind: "killed", by: "me", code: 0 }],
    [137, cause("host-ended", ""), { kind: "killed", by: "the end of its host", code: 137 }],
    [143, cause("terminated", "me"), { kind: "killed", by: "me", code: 143 }],
    [0, cause("terminated", "me"), { kind: "exited", code: 0 }],
    [137, cause("terminated", "me"), { kind: "signaled", signal: "SIGKILL", code: 137 }],
    [143, cause("timeout", "1500"), { kind: "timedOut", afterMs: 1500, code: 143 }],
    [143, cause("timeout", "?"), { kind: "timedOut", afterMs: 0, code: 143 }],
    [143, cause("aborted"), { kind: "aborted", code: 143 }],
  ])("code %i with the cause %j has the same outcome whether its shim lives or not", (code, why, outcome) => {
    for (const shimAlive of [true, false]) {
      const record = { exit: exit(code), cause: why };
      expect(decideOutcome({ record, shimAlive, fault: undefined })).toEqual(outcome);
    }
  });

  test("a fault means that the command never started, whatever the record contains", () => {
    const record = { exit: exit(126), cause: cause("killed") };
    expect(decideOutcome({ record, shimAlive: false, fault: "cwd" })).toEqual({
      kind: "failedToStart",
      reason: "the working directory was gone when it started",
    });
    expect(decideOutcome({ record, shimAlive: false, fault: "unknown" })).toMatchObject({
      kind: "killed",
    });
  });
});

test.each([
  [0, undefined],
  [128, undefined],
  [129, "SIGHUP"],
  [130, "SIGINT"],
  [141, "SIGPIPE"],
  [153, "SIGXFSZ"],
  [162, "SIGRTMIN+0"],
  [192, "SIGRTMIN+30"],
  [193, undefined],
  [255, undefined],
])("code %i means %s", (code, signal) => {
  expect(signalOf(code)).toBe(signal);
});

test.each<[Outcome, number | null, string]>([
  [{ kind: "exited", code: 3 }, 3, "exited with code 3"],
  [{ kind: "signaled", signal: "SIGKILL", code: 137 }, 137, "ended by SIGKILL (exit code 137)"],
  [{ kind: "timedOut", afterMs: 1000, code: 143 }, 143, "timed out after 1000ms"],
  [{ kind: "killed", by: "me", code: 137 }, 137, "killed by me"],
  [{ kind: "aborted", code: 143 }, 143, "ended because the call was cancelled"],
  [{ kind: "failedToStart", reason: "r" }, null, "could not be started: r"],
  [{ kind: "lost", reason: "r" }, null, "lost: r"],
])("%j has code %s and is described as: %s", (outcome, code, words) => {
  expect(codeOf(outcome)).toBe(code);
  expect(describeOutcome(outcome)).toBe(words);
});
