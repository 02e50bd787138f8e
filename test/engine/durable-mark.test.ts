import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeDurableMark } from "../../src/engine/durable-mark.ts";
import { useDirectories } from "../fixtures/directories.ts";
import { metaOf } from "../fixtures/metas.ts";
import { useShells } from "../fixtures/shells.ts";

const directory = useDirectories();
const { manager } = useShells();

const META = metaOf({ durable: true });

test.each([
  [10_000, 5_000, "15 5000\n"],
  [10_001, 5_000, "16 5000\n"],
  [10_999, 1, "11 1\n"],
  [0, 86_400_000, "86400 86400000\n"],
  [10_000, null, "10 0\n"],
])(
  "a shell that starts at %d ms and may live for %s ms has the mark %j",
  (startedUptimeMs, deadlineMs, text) => {
    const path = join(directory(), "durable");
    writeDurableMark(path, { ...META, startedUptimeMs, deadlineMs });
    expect(readFileSync(path, "latin1")).toBe(text);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  },
);

test("a durable shell has a mark, and a shell that is not durable has none", async () => {
  const shells = manager();
  const durable = await shells.createShell({
    command: "exit 0",
    workingDir: "/",
    durable: true,
    timeoutMs: 7_000,
  });
  const plain = await shells.createShell({ command: "exit 0", workingDir: "/", timeoutMs: 7_000 });
  const { startedUptimeMs } = durable.started.meta;
  expect(readFileSync(durable.started.files.durable, "latin1")).toBe(
    `${Math.ceil((startedUptimeMs + 7_000) / 1000)} 7000\n`,
  );
  expect(statSync(plain.started.files.durable, { throwIfNoEntry: false })).toBeUndefined();
  await Promise.all([durable.wait(20_000), plain.wait(20_000)]);
});
