// What nacre reports while a link is lost. The client program of these links fails while the file `down` exists.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import { type LinkChange, LinkLoss } from "../../src/remote/client/link-loss.ts";
import { REMOTE_LOSS_NOTICE_MS } from "../../src/support/limits.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { root } from "../docs/pages.ts";
import { eventually } from "../fixtures/eventually.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { usePlaces } from "./remote-place.ts";

const newPlace = usePlaces(useLeakProof());

function gatedPlace() {
  const place = newPlace();
  const gate = join(place.dir, "gated.sh");
  const down = join(place.dir, "down");
  writeFileSync(gate, `#!/bin/sh\n[ ! -e ${down} ] || exit 1\nexec "$@"\n`);
  chmodSync(gate, 0o755);
  const words = JSON.parse(place.url.slice("command:".length)) as string[];
  const cut = () => {
    for (const pid of place.links()) process.kill(pid, "SIGKILL");
  };
  return {
    ...place,
    url: `command:${JSON.stringify([gate, ...words])}`,
    cut,
    /** Cuts the link and prevents a new one. */
    takeDown: () => {
      writeFileSync(down, "");
      cut();
    },
    bringUp: () => rmSync(down),
  };
}

function nacre(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const program = join(root, "dist/cli/main.js");
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [program, ...args], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk) => {
      texts[name] += chunk;
    });
  return { child, texts };
}

const COMMAND = "echo began; while [ ! -e go ]; do sleep 0.05; done; echo went";

test("a run reports on stderr that its link is lost and restored", async () => {
  const place = gatedPlace();
  const { child, texts } = nacre(place.env, "--remote", place.url, "run", COMMAND);
  await eventually(() => expect(texts.stdout).toBe("began\n"));
  place.takeDown();
  await eventually(() =>
    expect(texts.stderr).toBe(`nacre: the link to ${place.url} is lost; reconnecting…\n`),
  );
  place.bringUp();
  await eventually(() => expect(texts.stderr).toMatch(/\nnacre: the link to .* is restored after \d+ s\n$/));
  writeFileSync(join(place.work, "go"), "");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(texts.stdout).toBe("began\nwent\n");
});

test("a short loss is not reported, and a long loss is reported once", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const seen: LinkChange[] = [];
  const loss = new LinkLoss("ssh://host", (change) => seen.push(change));
  loss.lost();
  vi.advanceTimersByTime(REMOTE_LOSS_NOTICE_MS - 1);
  loss.restored();
  vi.advanceTimersByTime(REMOTE_LOSS_NOTICE_MS);
  expect(seen).toEqual([]);
  loss.lost();
  // If another link is lost before the notice, the delay of the notice does not start again.
  vi.advanceTimersByTime(REMOTE_LOSS_NOTICE_MS - 1);
  loss.lost();
  vi.advanceTimersByTime(1);
  expect(seen.map(({ state }) => state)).toEqual(["lost"]);
  // After nacre has given up the link, it is never reported as restored.
  loss.end();
  loss.restored();
  expect(seen).toHaveLength(1);
});

test("the MCP server logs that its link is lost, and its audit log records the loss along with the calls", async () => {
  const place = gatedPlace();
  const auditFile = join(place.dir, "audit.jsonl");
  const { child, texts } = nacre(place.env, "mcp", "--remote", place.url, "--audit-file", auditFile);
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
  await eventually(() => expect(texts.stdout).not.toBe(""));
  place.takeDown();
  await eventually(() =>
    expect(texts.stderr).toBe(`nacre mcp: the link to ${place.url} is lost; reconnecting…\n`),
  );
  place.bringUp();
  await eventually(() => expect(texts.stderr).toMatch(/is restored after \d+ s\n$/));
  const call = { name: "Bash", arguments: { command: "exit 3" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call })}\n`);
  await eventually(() => expect(texts.stdout).toContain('"exit_nonzero"'));
  child.stdin.end();
  await once(child, "close");
  const records = readFileSync(auditFile, "utf8").trimEnd().split("\n");
  expect(records.map((line) => JSON.parse(line).event)).toMatchObject([
    { type: "link", state: "lost", url: place.url },
    { type: "link", state: "restored" },
    { type: "call", tool: "Bash", arguments: { command: "exit 3" } },
    { type: "result", tool: "Bash", success: false, code: "exit_nonzero" },
  ]);
  expect(await verifyAudit(auditFile)).toMatchObject({ ok: true, records: 4 });
});

test("a toolkit emits the event link when its link is lost and restored", async () => {
  const place = gatedPlace();
  await using kit = await createToolkit({ remote: { url: place.url, retryMaxMs: 100 } });
  const seen: unknown[] = [];
  kit.on("link", ({ type, state, url, downMs }) => seen.push({ type, state, url, isLong: downMs > 500 }));
  place.takeDown();
  const lost = { type: "link", state: "lost", url: place.url, isLong: true };
  await eventually(() => expect(seen).toEqual([lost]));
  place.bringUp();
  await eventually(() => expect(seen).toEqual([lost, { ...lost, state: "restored" }]));
});
