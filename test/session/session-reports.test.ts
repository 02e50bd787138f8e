import fc from "fast-check";
import { expect, test } from "vitest";
import { type Report, ReportReader } from "../../src/session/session-reports.ts";

const BYTES = Buffer.from(
  "b\0t.1\0A\0\ntrap -- 'x' DEBUG\nr\0t.1\x003\x00127\0ehuB\0/a b\nc\0A\0\ns\0t.1\x003\x001.000100\x001,004100\0\nf\0t.1\x003\x0077\0\nr\0t.1\x004\x000\0hB\0/ä\0checkwinsize\0\n",
);
const REPORTS: readonly Report[] = [
  { kind: "ready", token: "t.1", expandsAliases: true },
  {
    kind: "ran",
    token: "t.1",
    number: 3,
    code: 127,
    flags: "ehuB",
    cwd: "/a b\nc",
    expandsAliases: true,
    isBroken: false,
    trapsChildren: false,
    traps: "\\builtin trap -- 'x' DEBUG\n",
  },
  { kind: "saved", token: "t.1", number: 3, tookMs: 4 },
  { kind: "saving", token: "t.1", number: 3, pid: 77 },
  {
    kind: "ran",
    token: "t.1",
    number: 4,
    code: 0,
    flags: "hB",
    cwd: "/ä",
    expandsAliases: false,
    isBroken: false,
    trapsChildren: false,
    traps: "",
  },
];

function read(pieces: readonly Buffer[]): Report[] {
  const reports: Report[] = [];
  const reader = new ReportReader([{ take: (report) => reports.push(report) }]);
  for (const piece of pieces) reader.push(piece);
  return reports;
}

test("reports are parsed with all their fields", () => {
  expect(read([BYTES])).toEqual(REPORTS);
});

test("reports are parsed the same, wherever their bytes are split", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: BYTES.length }), { maxLength: 8 }), (cuts) => {
      const bounds = [0, ...cuts.sort((a, b) => a - b), BYTES.length];
      const pieces = bounds.slice(1).map((end, i) => BYTES.subarray(bounds[i], end));
      expect(read(pieces.filter(({ length }) => length > 0))).toEqual(REPORTS);
    }),
  );
});

test("bytes of other processes are skipped", () => {
  expect(read([Buffer.concat([Buffer.from("garbage\0\n"), BYTES])])).toEqual(REPORTS);
});
