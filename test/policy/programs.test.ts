// The records of programs state each fact about a program once.
import { describe, expect, it } from "vitest";
import { FAMILIES, programNamed } from "../../src/policy/programs/programs.ts";
import type { OptionTable } from "../../src/policy/programs/read-options.ts";
import { isElsewhere, isReader } from "../../src/policy/programs/readers.ts";
import { verdictOf } from "./dev.ts";

const namesIn = (list: string): readonly string[] => list.trim().split(/\s+/);
const repeated = (names: readonly string[]): readonly string[] =>
  names.filter((name, i) => names.indexOf(name) !== i);
const records = FAMILIES.flatMap(({ programs }) => Object.entries(programs));

/** The options of a table, with each short option as one letter. */
function optionsIn({ values = "", writes = "", runs = "", starts = "", code = "" }: OptionTable) {
  const lists = [values, writes, runs, starts, code].filter((list) => list !== "");
  return lists.flatMap(namesIn).flatMap((name) => (name.startsWith("-") ? [...name.slice(1)] : [name]));
}

describe("program records", () => {
  it("each program has only one record", () => {
    expect(repeated(records.flatMap(([names]) => namesIn(names)))).toEqual([]);
  });

  it("each familiar program is listed once", () => {
    expect(repeated(FAMILIES.flatMap(({ familiar }) => namesIn(familiar)))).toEqual([]);
  });

  it("each option is in only one list of its program", () => {
    const wrong = records.filter(([, { options = {} }]) => repeated(optionsIn(options)).length > 0);
    expect(wrong.map(([names]) => names)).toEqual([]);
  });

  it("an interpreter or shell has the same record with a version in its name as without one", () => {
    expect(programNamed("python3.12")).toBe(programNamed("python"));
    expect(programNamed("bash-5.2")).toBe(programNamed("bash"));
    expect(programNamed("curl2")).toEqual({});
  });

  it("the file that an output option names counts as written, in every spelling of the option", () => {
    for (const option of [
      "-o /etc/passwd",
      "-o/etc/passwd",
      "--output /etc/passwd",
      "--output=/etc/passwd",
      "--outp=/etc/passwd",
    ])
      expect(verdictOf(`sort ${option} a`)).toBe("deny");
    expect(verdictOf("sort -- -o /etc/passwd")).toBe("allow");
  });

  it("the policy asks about a path outside the workspace in a command whose program has no record", () => {
    expect(verdictOf("frobnicate /etc/hosts")).toBe("ask");
    expect(verdictOf("frobnicate --cache=/etc/hosts")).toBe("ask");
    expect(verdictOf("frobnicate ~/Documents/a")).toBe("ask");
    expect(verdictOf("frobnicate src/a /tmp/b")).toBe("allow");
    expect(verdictOf("frobnicate() { cat $1; }; frobnicate /etc/hosts")).toBe("allow");
  });

  it("a reader may read any path that is not secret", () => {
    for (const name of ["cat", "ls -la", "stat", "diff a", "sha256sum", "file", "ldd", "jq .", "rg x"]) {
      expect(verdictOf(`${name} /etc/hosts`), name).toBe("allow");
      expect(verdictOf(`${name} ../other/a`), name).toBe("allow");
    }
    expect(verdictOf("tree /etc -o /etc/hosts")).toBe("deny");
  });

  it("each harmless program is in only one list", () => {
    expect(["docker", "aws", "ssh"].filter((name) => isReader(name) || !isElsewhere(name))).toEqual([]);
    expect(["cat", "ls", "grep"].filter((name) => !isReader(name) || isElsewhere(name))).toEqual([]);
  });
});
