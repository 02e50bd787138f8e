import { readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  CAUSE_KINDS,
  type EndRecord,
  type ExitRecord,
  parseExitFields,
  preallocateEndRecord,
  readEndRecord,
  writeCause,
} from "../../src/engine/end-record.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

function preallocated(): string {
  const path = join(directory(), "record");
  preallocateEndRecord(path);
  return path;
}

/** A record in the shim's format: printf 'X %-124s.\n'. */
const rendered = (fields: string) => `X ${fields.padEnd(124)}.\n`;
const NO_CAUSE = `-${" ".repeat(125)}.\n`;
const PENDING = `P${" ".repeat(125)}.\n`;

// Write every record to the same file: each property test reads hundreds of records.
let scratch = "";
beforeEach(() => {
  scratch = join(directory(), "record");
});

function reading(bytes: string | Buffer): EndRecord {
  const path = scratch;
  writeFileSync(path, bytes, "latin1");
  return readEndRecord(path);
}

const fields = fc
  .record({
    code: fc.integer({ min: 0, max: 255 }),
    flags: fc.constantFrom("-", "c", "f", "l", "u", "cu", "clu"),
    out: fc.nat(),
    err: fc.nat(),
    uptime: fc.tuple(fc.nat(), fc.integer({ min: 10, max: 99 })).map(([s, cs]) => `${s}.${cs}`),
  })
  .map(({ code, flags, out, err, uptime }) => `${code} ${flags} ${out} ${err} ${uptime}`);

describe("the exit record", () => {
  test("is pending, private and has its final size before the command runs", () => {
    const path = preallocated();
    expect(readEndRecord(path)).toEqual({ exit: "pending", cause: undefined });
    expect(statSync(path)).toMatchObject({ size: 256, mode: 0o100_600 });
    expect(readFileSync(path, "latin1")).toBe(PENDING + NO_CAUSE);
  });

  test("is not created twice", () => {
    const path = preallocated();
    expect(() => preallocateEndRecord(path)).toThrow("EEXIST");
  });

  test("contains the exit code, flags, byte counts and time", () => {
    expect(reading(rendered("3 cu 12 5 77.25") + NO_CAUSE)).toEqual({
      exit: {
        code: 3,
        capReached: true,
        spoolFull: false,
        loggerLost: false,
        unsure: true,
        stdoutBytes: 12,
        stderrBytes: 5,
        endedUptimeMs: 77_250,
      },
      cause: undefined,
    });
    expect(reading(rendered("0 fl 0 0 1.00") + NO_CAUSE).exit).toMatchObject({
      spoolFull: true,
      loggerLost: true,
      capReached: false,
      unsure: false,
    });
  });

  test.each([
    ["nothing", ""],
    ["one byte", "X"],
    ["its first half", rendered("0 - 0 0 1.00").slice(0, 64)],
    ["all but its last byte", rendered("0 - 0 0 1.00").slice(0, 127)],
    ["binary zeros", "\0".repeat(256)],
    ["text that is not a record", "X".repeat(256)],
    ["another first letter", `Y${rendered("0 - 0 0 1.00").slice(1)}${NO_CAUSE}`],
    ["no final full stop", `${rendered("0 - 0 0 1.00").slice(0, 126)} \n${NO_CAUSE}`],
    ["code 256", rendered("256 - 0 0 1.00") + NO_CAUSE],
    ["a negative code", rendered("-1 - 0 0 1.00") + NO_CAUSE],
    ["an empty code", rendered("- 0 0 1.00") + NO_CAUSE],
    ["an unknown flag", rendered("0 x 0 0 1.00") + NO_CAUSE],
    ["no flags", rendered("0 0 0 1.00") + NO_CAUSE],
    ["a count that is not a number", rendered("0 - 1e3 0 1.00") + NO_CAUSE],
    ["a missing field", rendered("0 - 0 0") + NO_CAUSE],
    ["an extra field", rendered("0 - 0 0 1.00 7") + NO_CAUSE],
    ["a time that is not a number", rendered("0 - 0 0 soon") + NO_CAUSE],
    ["a space instead of the first digit of code 10", `X  0 - 0 0 1.00${" ".repeat(111)}.\n${NO_CAUSE}`],
  ])("with %s is corrupt, not a success", (_, bytes) => {
    expect(reading(bytes).exit).toBe("corrupt");
  });

  test("that is missing or a directory is corrupt", () => {
    const path = preallocated();
    unlinkSync(path);
    expect(readEndRecord(path).exit).toBe("corrupt");
    expect(readEndRecord(directory()).exit).toBe("corrupt");
  });

  test("that partly overwrites the pending record is read as pending, corrupt or the complete record", () => {
    fc.assert(
      fc.property(fields, fc.integer({ min: 0, max: 128 }), (text, count) => {
        const whole = rendered(text);
        const { exit } = reading(whole.slice(0, count) + PENDING.slice(count) + NO_CAUSE);
        if (exit !== "pending" && exit !== "corrupt") expect(exit).toEqual(parseExitFields(text));
        expect(exit === "pending").toBe(count === 0);
      }),
      { numRuns: 500 },
    );
  });

  test("with changed bytes is a success only if its code is still 0", () => {
    const change = fc.tuple(fc.nat({ max: 127 }), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fields, fc.array(change, { minLength: 1, maxLength: 4 }), (text, changes) => {
        const bytes = Buffer.from(rendered(text) + NO_CAUSE, "latin1");
        for (const [at, byte] of changes) bytes[at] = byte;
        const { exit } = reading(bytes);
        if (exit === "pending" || exit === "corrupt") return;
        expect(exit.code === 0).toBe(/^X 0+ /.test(bytes.toString("latin1")));
      }),
      { numRuns: 1_000, examples: [["10 - 0 0 1.00", [[2, 0x20]]]] },
    );
  });

  test("of random bytes is always corrupt", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(reading(Buffer.from(bytes)).exit).toBe("corrupt");
      }),
    );
  });
});

describe("the fields of a record", () => {
  test("have the same values in the record and in the shim's message", () => {
    fc.assert(
      fc.property(fields, (text) => {
        const parsed: ExitRecord | undefined = parseExitFields(text);
        expect(parsed).toBeDefined();
        expect(reading(rendered(text) + NO_CAUSE).exit).toEqual(parsed);
      }),
    );
  });
});

describe("the cause", () => {
  test.each(CAUSE_KINDS)("%s is written once and read back together with the record", (kind) => {
    const path = preallocated();
    expect(writeCause(path, { kind, detail: "5000" })).toBe(true);
    expect(readEndRecord(path)).toEqual({ exit: "pending", cause: { kind, detail: "5000" } });
    expect(statSync(path).size).toBe(256);
  });

  test("that is written first wins", () => {
    const path = preallocated();
    writeCause(path, { kind: "timeout", detail: "1000" });
    expect(writeCause(path, { kind: "killed", detail: "later" })).toBe(false);
    expect(readEndRecord(path).cause).toEqual({ kind: "timeout", detail: "1000" });
  });

  test("does not change an existing exit record", () => {
    const path = join(directory(), "record");
    writeFileSync(path, rendered("7 - 1 2 3.00") + NO_CAUSE);
    writeCause(path, { kind: "killed", detail: "x" });
    expect(readEndRecord(path)).toMatchObject({ exit: { code: 7 }, cause: { kind: "killed" } });
  });

  test.each([
    ["", ""],
    ["a person", "a person"],
    ["ends with a stop .", "ends with a stop ."],
    ["Zoë\nand\ttabs", "Zo??and?tabs"],
    ["x".repeat(500), "x".repeat(117)],
  ])("stores its detail as one line of plain characters: %j", (detail, kept) => {
    const path = preallocated();
    writeCause(path, { kind: "killed", detail });
    expect(readEndRecord(path).cause).toEqual({ kind: "killed", detail: kept });
  });

  test("is read back with its kind and does not change the file's size, whatever its detail", () => {
    fc.assert(
      fc.property(fc.constantFrom(...CAUSE_KINDS), fc.string({ unit: "binary" }), (kind, detail) => {
        const path = preallocated();
        writeCause(path, { kind, detail });
        expect(readEndRecord(path)).toMatchObject({ exit: "pending", cause: { kind } });
        expect(statSync(path).size).toBe(256);
      }),
      { numRuns: 30 },
    );
  });

  test("that is truncated or of an unknown kind is ignored", () => {
    const path = preallocated();
    writeCause(path, { kind: "killed", detail: "x" });
    truncateSync(path, 250);
    expect(readEndRecord(path)).toEqual({ exit: "pending", cause: undefined });
    expect(reading(`${PENDING}${"C eaten by a dog".padEnd(126)}.\n`).cause).toBeUndefined();
    expect(reading(`${PENDING}${"C kil".padEnd(126)}.\n`).cause).toBeUndefined();
  });

  test("does not change if text is appended to the file, and neither does the record", () => {
    const record = `${rendered("143 - 0 0 1.00")}${"C killed kill()".padEnd(126)}.\n`;
    expect(reading(`${record}more\n`)).toEqual(reading(record));
    expect(reading(record).cause).toEqual({ kind: "killed", detail: "kill()" });
  });
});
