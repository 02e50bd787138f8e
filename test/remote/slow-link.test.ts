// Slow links and slow readers: a large message arrives even if it takes long, and unread output stays on disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { textOf } from "../fixtures/processes.ts";
import { usePlaces } from "./remote-place.ts";

const newPlace = usePlaces(useLeakProof());

/** Forwards 40 chunks of 4 KiB per second in both directions, except while it pushes the build. */
const THROTTLE = `
const read = async (from, to) => {
  for await (const chunk of from) {
    for (let at = 0; at < chunk.length; at += 4096) {
      to.write(chunk.subarray(at, at + 4096));
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  if (to !== process.stdout) to.end();
};
const child = require("node:child_process").spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "inherit"] });
const isPush = process.argv.some((word) => word.includes("gzip -dc"));
if (isPush) { process.stdin.pipe(child.stdin); child.stdout.pipe(process.stdout); }
else read(process.stdin, child.stdin);
const printed = isPush ? Promise.resolve() : read(child.stdout, process.stdout);
child.on("close", (code) => printed.then(() => process.exit(code ?? 1)));
`;

test("in both directions, a message arrives even if it takes longer than the allowed silence", async () => {
  const place = newPlace();
  const throttle = join(place.dir, "throttle.cjs");
  writeFileSync(throttle, THROTTLE);
  const slow = join(place.dir, "slow.sh");
  writeFileSync(slow, `#!/bin/sh\nexec ${process.execPath} ${throttle} "$@"\n`);
  chmodSync(slow, 0o755);
  const [client = "", dir = ""] = JSON.parse(place.url.slice("command:".length)) as string[];
  const url = `command:${JSON.stringify([slow, client, dir])}`;
  // 400 kB take two and a half seconds.
  const remote = { url, pingMs: 100, silentMaxMs: 1_500, lingerMs: 10_000 };
  await using kit = await createToolkit({ remote, with: ["files"] });
  const file = join(place.work, "large");
  const content = "x".repeat(400_000);
  const written = await kit.call("Write", { file_path: file, content });
  expect([written.error, existsSync(file)]).toEqual([undefined, true]);
  expect((await kit.run(`cat ${file}`)).stdout).toBe(content);
  const connections = readFileSync(join(place.dir, "links"), "utf8").trim().split("\n");
  // One connection each for the probe, the push and the link.
  expect(connections.length).toBeLessThanOrEqual(3);
});

test("unread output does not fill the memory of the client", async () => {
  const place = newPlace();
  const bytes = 300 * 2 ** 20;
  const command = `head -c ${bytes} /dev/zero; touch printed`;
  const program = join(root, "dist/cli/main.js");
  const child = spawn(process.execPath, [program, "--remote", place.url, "run", command], {
    env: place.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const rssMb = () =>
    Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${child.pid}/status`))?.[1] ?? Number.NaN) / 1024;
  await eventually(() => expect(existsSync(join(place.work, "printed"))).toBe(true));
  const seen: number[] = [];
  await eventually(() => {
    seen.push(rssMb());
    const last = seen.slice(-10);
    expect(Math.max(...last) - Math.min(...last)).toBeLessThan(last.length < 10 ? 0 : 5);
  });
  expect(seen.at(-1)).toBeLessThan(250);
  let count = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    count += chunk.length;
  });
  const [code] = await once(child, "close");
  expect([code, count]).toEqual([0, bytes]);
});
