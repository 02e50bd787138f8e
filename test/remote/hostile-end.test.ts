// A remote end that breaks the protocol cannot hang or crash the client, or exhaust its memory or processor.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RpcPeer } from "../../src/remote/channel/rpc-peer.ts";
import { RemoteClient } from "../../src/remote/client/remote-client.ts";
import { NacreError } from "../../src/support/errors.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { eventually } from "../fixtures/eventually.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { hostilePlace } from "./hostile-place.ts";

const directory = useLeakProof();
const TIMES = { pingMs: 100, silentMaxMs: 20_000, lingerMs: 3_000, retryMaxMs: 400, connectMaxMs: 5_000 };

async function failureAt(body: string, times: Partial<typeof TIMES> = {}) {
  const place = hostilePlace(directory(), body);
  const error = await createToolkit({ remote: { url: place.url, ...TIMES, ...times } }).then(
    async (kit) => {
      await kit.dispose();
      return new Error("it connected");
    },
    (reason: unknown) => reason as Error & { code?: string },
  );
  return { error, place };
}

describe("before the welcome", () => {
  test.each([
    ["never greets", "", /did not greet in time/],
    ["slowly prints one byte after another", "setInterval(() => out('x'), 20);", /did not greet in time/],
    [
      "prints endless garbage",
      "const more = () => out('\\0\\x1b]0;x\\x07'.repeat(10000), more); more();",
      /printed more than 16777216 bytes before the greeting/,
    ],
    [
      "prints endless probe lines",
      "const more = () => out('nacre-probe node v20.19.0 /x\\n'.repeat(3000), more); more();",
      /printed more than 16777216 bytes before the greeting/,
    ],
    ["greets and then is silent", "greet();", /did not answer the handshake in time/],
    ["greets and ends", "greet(); process.stdin.destroy();", /ended during the handshake/],
  ])("a remote end that %s is refused", async (_what, body, message) => {
    const { error } = await failureAt(body, { connectMaxMs: body.includes("more") ? 30_000 : 2_000 });
    expect(error).toMatchObject({ code: "unavailable", message: expect.stringMatching(message) });
    expect(error.message).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });

  test.each(["received: 99", "received: -1", "received: 'x'", "received: null", "state: 'x'", "cwd: 5"])(
    "a welcome with %s is refused",
    async (field) => {
      const { error, place } = await failureAt(`greet(); onHello(() => welcome({ ${field} }));`);
      expect(error).toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/handshake: .*(welcome has a wrong field|acknowledges message 99)/),
      });
      expect(place.connections()).toHaveLength(1);
    },
  );
});

describe("after the welcome", () => {
  test.each([
    ["skips a message", "frame(7, {});", /message 7 follows message 0/],
    ["acknowledges a message that was never sent", "frame(1, {}, 99);", /acknowledges message 99/],
    ["sends a line that is not a frame", "out('hello\\n');", /the frame "hello" is malformed/],
    ["sends an endless line", "out(Buffer.alloc(70 * 2 ** 20, 'x'));", /longer than 67108864 bytes/],
    ["sends text that is not JSON", "out('1 0 {x\\n');", /not JSON/],
  ])("a remote end that %s is reported as lost, with the cause", async (_what, violation, cause) => {
    const { error, place } = await failureAt(`greet(); onHello(() => { welcome(); ${violation} });`);
    expect(error).toMatchObject({ code: "remote_lost", message: expect.stringMatching(cause) });
    expect(place.connections().length).toBeLessThanOrEqual(10);
  });

  test("a link that always ends after the welcome is restored with growing pauses", async () => {
    const { error, place } = await failureAt(
      "greet(count > 6 ? '0123456789abcdef' : undefined); onHello(() => { welcome(); setTimeout(process.exit, 10); });",
    );
    expect(error).toMatchObject({ code: "remote_lost", message: expect.stringMatching(/restarted/) });
    const times = place.connections();
    expect((times[5] ?? 0) - (times[4] ?? 0)).toBeGreaterThanOrEqual(200);
  });

  test("answers to calls that were never made are ignored", async () => {
    const place = hostilePlace(
      directory(),
      `greet(); onHello(() => {
        welcome();
      });
      onRequest(() => {
        answer(1, 999, { shells: [] }); answer(2, "x", 1); frame(3, []); frame(4, null); frame(5, { id: {}, method: 7 });
        frame(6, { jsonrpc: "2.0", method: "nacre/event", params: { event: null } });
        frame(7, { jsonrpc: "2.0", method: "nacre/event", params: { shell: 5, event: { type: "__proto__" } } });
        answer(8, 1, { shells: [] });
      });`,
    );
    const kit = await createToolkit({ remote: { url: place.url, ...TIMES } });
    expect(kit.shells.list()).toEqual([]);
    await kit.dispose();
  });

  test("a pending call ends when the toolkit is disposed of", async () => {
    const place = hostilePlace(
      directory(),
      "greet(); onHello(() => welcome()); onRequest(() => { answer(1, 1, { shells: [] }); setInterval(() => out('0 1\\n'), 100); });",
    );
    const kit = await createToolkit({ remote: { url: place.url, ...TIMES } });
    const run = kit.run("true").catch((error: unknown) => error);
    await kit.dispose();
    expect(await run).toMatchObject({ code: "unavailable", message: expect.stringMatching(/closed/) });
  });

  test.each(["5", "[5]", "[null]", "undefined"])(
    "the answer %s is refused if the client expects a list of shells",
    async (shells) => {
      const { error } = await failureAt(
        `greet(); onHello(() => welcome()); onRequest(() => { answer(1, 1, { shells: ${shells} }); sayBye(); });`,
      );
      expect(error).toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/malformed list of shells/),
      });
    },
  );

  test("a connection that is closed before the welcome is reported as closed", async () => {
    const dir = directory();
    const [greeted, go] = [join(dir, "greeted"), join(dir, "go")];
    const body = `greet(); onHello(() => {
      fs.writeFileSync(${JSON.stringify(greeted)}, "");
      setInterval(() => fs.existsSync(${JSON.stringify(go)}) && welcome(), 20);
    });`;
    const remote = { url: hostilePlace(dir, body).url, ...TIMES };
    const ignore = () => {};
    const client = new RemoteClient({ remote, purpose: { kind: "cli" }, onMessage: ignore, onLost: ignore });
    const ready = client.ready().catch((error: unknown) => error);
    await eventually(() => expect(existsSync(greeted)).toBe(true));
    await client.close();
    writeFileSync(go, "");
    expect(await ready).toMatchObject({ code: "unavailable", message: expect.stringMatching(/is closed/) });
  });

  test("an error with escape sequences cannot change the terminal", async () => {
    const message = "bad \\u001b]0;owned\\u0007 \\u009b2J \\u202etxt\\nline";
    const { error } = await failureAt(
      `greet(); onHello(() => { welcome({ state: "refused", error: { message: "${message}", data: { code: "unavailable", rule: "\\u001b[2J" } } }); });`,
    );
    expect(error.message).toMatch(/bad .*owned/);
    expect(JSON.stringify({ ...error, text: error.message.replace("\n", "") })).not.toMatch(
      /\\u00[019]|[\u0080-\u009f\u202e]/,
    );
  });

  test("a remote end that does not read its answers gets no more answers", async () => {
    const sent: unknown[] = [];
    const full = new NacreError("limit_reached", "full");
    const peer = new RpcPeer((message) => {
      if (sent.length > 0) throw full;
      sent.push(message);
    }, new Map());
    for (const id of [1, 2, 3]) peer.take({ jsonrpc: "2.0", id, method: "x" });
    await expect(peer.request("y", {})).rejects.toBe(full);
    expect(sent).toHaveLength(1);
  });

  test("a cancelled call does not wait forever for a remote end that does not answer", async () => {
    const sent: unknown[] = [];
    const peer = new RpcPeer((message) => sent.push(message), new Map(), 50);
    const cancel = new AbortController();
    const call = peer.request("nacre/run", {}, { signal: cancel.signal });
    cancel.abort();
    await expect(call).rejects.toMatchObject({
      code: "remote_lost",
      message: expect.stringMatching(/not confirmed/),
    });
    expect(sent).toMatchObject([{ method: "nacre/run" }, { method: "notifications/cancelled" }]);
  });

  test("a call ends even if its cancellation cannot be sent", async () => {
    const sent: unknown[] = [];
    const send = (message: unknown) => {
      if (sent.length > 0) throw new NacreError("limit_reached", "full");
      sent.push(message);
    };
    const peer = new RpcPeer(send, new Map(), 50);
    const cancel = new AbortController();
    const call = peer.request("nacre/run", {}, { signal: cancel.signal });
    cancel.abort();
    await expect(call).rejects.toMatchObject({ code: "remote_lost" });
  });
});
