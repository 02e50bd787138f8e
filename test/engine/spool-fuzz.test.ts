// Whatever stands in the files of a spool, reading them neither throws nor calls an unknown ending a success.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CAUSE_KINDS, preallocateEndRecord, readEndRecord, writeCause } from "../../src/engine/end-record.ts";
import { readIdentity } from "../../src/engine/identity.ts";
import { readMeta, writeMeta } from "../../src/engine/meta.ts";
import { ShellManager } from "../../src/shell-manager.ts";
import { FUZZ_MAX_MS, FUZZ_RUNS } from "../fixtures/fuzz.ts";
import { metaOf } from "../fixtures/metas.ts";

let dir = "";
let file = "";
beforeAll(() => {
  // Hundreds of thousands of small files: in memory where there is such a place.
  dir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "nacre-fuzz-"));
  file = join(dir, "file");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const runs = { numRuns: FUZZ_RUNS };
const timeout = FUZZ_MAX_MS;

const exitLine = fc
  .record({
    code: fc.nat(255),
    flags: fc.constantFrom("-", "c", "f", "l", "u", "cu", "cflu"),
    out: fc.nat(2 ** 31 - 1),
    err: fc.nat(2 ** 31 - 1),
    ended: fc.nat(10 ** 9),
  })
  .map((f) => ({
    code: f.code,
    text: `X ${f.code} ${f.flags} ${f.out} ${f.err} ${Math.floor(f.ended / 100)}.${String(f.ended % 100).padStart(2, "0")}`,
  }));
const framed = (line: string) => `${line.padEnd(126)}.\n`;
const FRAMED_EXIT = /^X (\d{1,3}) (?:-|[cflu]+) \d+ \d+ \d+\.\d\d *\.\n/;
const NO_CAUSE = framed("-");

/** Cut, doubled or with a byte changed; tells what it has made. */
const damage = fc.oneof(
  fc.record({ how: fc.constant("cut" as const), at: fc.nat() }),
  fc.record({ how: fc.constant("change" as const), at: fc.nat(), byte: fc.nat(255) }),
  fc.record({ how: fc.constant("insert" as const), at: fc.nat(), byte: fc.nat(255) }),
);

function damaged(bytes: Buffer, harm: { how: string; at: number; byte?: number }): Buffer {
  const at = harm.at % bytes.length;
  const middle = harm.how === "cut" ? [] : [harm.byte ?? 0];
  const rest = harm.how === "cut" ? [] : bytes.subarray(harm.how === "change" ? at + 1 : at);
  return Buffer.from([...bytes.subarray(0, at), ...middle, ...rest]);
}

test("an exit record of any bytes is pending, corrupt or a whole record", { timeout }, () => {
  const any = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(any, (bytes) => {
      writeFileSync(file, bytes);
      return readEndRecord(file).exit === "corrupt";
    }),
    runs,
  );
});

test("a damaged exit record never reads as anything but what stands in it", { timeout }, () => {
  fc.assert(
    fc.property(exitLine, damage, ({ code, text }, harm) => {
      const whole = Buffer.from(framed(text) + NO_CAUSE, "latin1");
      writeFileSync(file, whole);
      const before = readEndRecord(file).exit;
      if (typeof before === "string" || before.code !== code) return false;
      const bytes = damaged(whole, harm);
      writeFileSync(file, bytes);
      const { exit } = readEndRecord(file);
      if (typeof exit === "string") return exit === "corrupt";
      // What is still read as an end is exactly the text of one, in its frame.
      const [, read] = FRAMED_EXIT.exec(bytes.toString("latin1")) ?? [];
      return Number(read) === exit.code && exit.code <= 255;
    }),
    runs,
  );
});

test("the first cause is read back, whatever its words and those of a second one", { timeout }, () => {
  const detail = fc.string({ unit: "binary", maxLength: 60 });
  const record = join(dir, "record");
  fc.assert(
    fc.property(fc.constantFrom(...CAUSE_KINDS), detail, detail, (kind, first, second) => {
      rmSync(record, { force: true });
      preallocateEndRecord(record);
      const written = writeCause(record, { kind, detail: first });
      const { exit, cause } = readEndRecord(record);
      const again = writeCause(record, { kind: "killed", detail: second });
      const after = readEndRecord(record).cause;
      const same = cause?.kind === kind && after?.kind === kind && after.detail === cause.detail;
      return written && !again && exit === "pending" && same;
    }),
    runs,
  );
});

const META = metaOf({ createdAt: 1, startedUptimeMs: 2, host: { pid: 3, startTime: "4" }, capBytes: 5 });

/** A meta with some of its fields replaced or left out, or any JSON at all. */
const anyMeta = fc.oneof(
  fc.json(),
  fc
    .record({
      keys: fc.array(fc.constantFrom(...Object.keys(META), "confinement", "__proto__", "host.pid")),
      value: fc.jsonValue(),
      drop: fc.boolean(),
    })
    .map(({ keys, value, drop }) => {
      const entries = Object.entries(META).filter(([key]) => !(drop && keys.includes(key)));
      const extra = drop ? [] : keys.map((key) => [key, value]);
      return JSON.stringify(Object.fromEntries([...entries, ...extra]));
    }),
);

test("a meta of any text is read whole or not at all", { timeout }, () => {
  const fields = Object.keys(META);
  fc.assert(
    fc.property(fc.oneof(anyMeta, fc.string({ unit: "binary" })), (text) => {
      writeFileSync(file, text);
      const meta = readMeta(file);
      if (meta === undefined) return true;
      const strings = [meta.id, meta.workingDir, meta.scope, meta.host.startTime];
      return (
        fields.every((field) => Object.hasOwn(meta, field)) &&
        strings.every((words) => typeof words === "string") &&
        Number.isFinite(meta.createdAt) &&
        Number.isInteger(meta.host.pid)
      );
    }),
    runs,
  );
});

test("a meta that is cut short is not read", { timeout }, () => {
  const text = fc.string({ unit: "binary", maxLength: 40 }).filter((words) => !words.includes("\0"));
  fc.assert(
    fc.property(text, text, fc.nat(), (workingDir, scope, at) => {
      const meta = { ...META, workingDir: `/${workingDir}`, scope };
      writeMeta(file, meta);
      // As JSON can hold it: a lone surrogate is written escaped, and comes back as it was.
      const back = readMeta(file);
      if (back?.workingDir !== meta.workingDir || back.scope !== scope) return false;
      const whole = Buffer.from(JSON.stringify(meta));
      writeFileSync(file, whole.subarray(0, at % whole.length));
      return readMeta(file) === undefined;
    }),
    runs,
  );
});

test("an identity of any bytes is read whole or not at all", { timeout }, () => {
  const words = fc
    .array(fc.oneof(fc.constantFrom("1", "-", "6b8b-boot", "\n", ""), fc.string({ maxLength: 5 })))
    .map((list) => list.join(" "));
  fc.assert(
    fc.property(words, (text) => {
      writeFileSync(file, text);
      return readIdentity(file) === undefined || text.split(" ").length === 7;
    }),
    runs,
  );
});

test("a spool full of such files is listed without an error", async () => {
  const manager = new ShellManager({ stateRoot: join(dir, "state") });
  const samples = fc.sample(fc.tuple(anyMeta, fc.uint8Array({ maxLength: 300 })), 300);
  for (const [number, [meta, record]] of samples.entries()) {
    const shell = join(manager.root.shellsDir, `shell_${number.toString(16).padStart(8, "0")}`);
    mkdirSync(shell, { recursive: true });
    writeFileSync(join(shell, "meta"), meta);
    writeFileSync(join(shell, "record"), record);
  }
  for (const shell of manager.findAll()) expect(["lost", "running", "pending"]).toContain(shell.status);
  await manager.dispose();
});
