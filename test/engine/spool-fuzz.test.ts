// Spool files can contain anything: reading them neither throws nor reports an unknown outcome as a success.
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
  // The tests write hundreds of thousands of small files: use a file system in memory if there is one.
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

/** Damage to a file: it is cut, or one byte is changed or inserted. */
const damage = fc.oneof(
  fc.record({ how: fc.constant("cut" as const), at: fc.nat() }),
  fc.record({ how: fc.constant("change" as const), at: fc.nat(), byte: fc.nat(255) }),
  fc.record({ how: fc.constant("insert" as const), at: fc.nat(), byte: fc.nat(255) }),
);

function damaged(bytes: Buffer, change: { how: string; at: number; byte?: number }): Buffer {
  const at = change.at % bytes.length;
  const middle = change.how === "cut" ? [] : [change.byte ?? 0];
  const rest = change.how === "cut" ? [] : bytes.subarray(change.how === "change" ? at + 1 : at);
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

test("a damaged exit record is corrupt, or is read exactly as it is written", { timeout }, () => {
  fc.assert(
    fc.property(exitLine, damage, ({ code, text }, change) => {
      const whole = Buffer.from(framed(text) + NO_CAUSE, "latin1");
      writeFileSync(file, whole);
      const before = readEndRecord(file).exit;
      if (typeof before === "string" || before.code !== code) return false;
      const bytes = damaged(whole, change);
      writeFileSync(file, bytes);
      const { exit } = readEndRecord(file);
      if (typeof exit === "string") return exit === "corrupt";
      // A record that is not corrupt must match the complete text of an exit record.
      const [, read] = FRAMED_EXIT.exec(bytes.toString("latin1")) ?? [];
      return Number(read) === exit.code && exit.code <= 255;
    }),
    runs,
  );
});

test("the first cause is read back, whatever text the first and the second cause contain", {
  timeout,
}, () => {
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

test("a truncated meta is not read", { timeout }, () => {
  const text = fc.string({ unit: "binary", maxLength: 40 }).filter((words) => !words.includes("\0"));
  fc.assert(
    fc.property(text, text, fc.nat(), (workingDir, scope, at) => {
      const meta = { ...META, workingDir: `/${workingDir}`, scope };
      writeMeta(file, meta);
      // JSON escapes a lone surrogate, so reading it returns the same text.
      const readBack = readMeta(file);
      if (readBack?.workingDir !== meta.workingDir || readBack.scope !== scope) return false;
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
