// The channel, over connections that are cut at any byte, and the store that keeps results by key.
import { expect, test } from "vitest";
import { Channel } from "../../src/remote/channel/channel.ts";
import { FrameLines } from "../../src/remote/channel/frame-lines.ts";
import { parseGreeting } from "../../src/remote/channel/handshake.ts";
import { KeyStore } from "../../src/remote/server/key-store.ts";
import { REMOTE_KEYS_MAX_COUNT } from "../../src/support/limits.ts";

/** A generator of random numbers that are the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test.each(Array.from({ length: 50 }, (_, seed) => seed))(
  "random cuts (seed %i) neither lose nor repeat a message",
  (seed) => {
    const random = generator(seed + 1);
    const got: { a: string[]; b: string[] } = { a: [], b: [] };
    const a = new Channel((json) => got.a.push(json));
    const b = new Channel((json) => got.b.push(json));
    const sent: { a: string[]; b: string[] } = { a: [], b: [] };
    for (let connection = 0; connection < 20; connection++) {
      // The bytes in transit. A cut drops the remaining bytes, even in the middle of a line.
      const toB: string[] = [];
      const toA: string[] = [];
      a.bind((line) => toB.push(line), b.received);
      b.bind((line) => toA.push(line), a.received);
      for (let step = 0; step < 10; step++) {
        const text = `"${connection}-${step}-${"x".repeat(Math.floor(random() * 40))}"`;
        if (random() < 0.5) {
          sent.a.push(text);
          a.send(text);
        } else {
          sent.b.push(text);
          b.send(text);
        }
      }
      const deliver = (pieces: string[], channel: Channel) => {
        const lines = new FrameLines((line) => channel.read(line));
        const bytes = Buffer.from(pieces.join(""));
        const arrived = connection === 19 ? bytes.length : Math.floor(bytes.length * random());
        for (let at = 0; at < arrived; ) {
          const end = Math.min(arrived, at + 1 + Math.floor(random() * 50));
          lines.push(bytes.subarray(at, end));
          at = end;
        }
      };
      deliver(toB, b);
      deliver(toA, a);
      a.unbind();
      b.unbind();
    }
    expect(got.b).toEqual(sent.a);
    expect(got.a).toEqual(sent.b);
  },
);

test.each(["x", "1", "1 x {}", "2 0 {}", "-1 0 {}", "1 99 {}", "1.5 0 {}"])(
  "the frame %j breaks the connection",
  (frame) => {
    expect(() => new Channel(() => {}).read(frame)).toThrow(/The channel is broken/);
  },
);

test("a banner before the greeting, even without a newline, is skipped", () => {
  expect(parseGreeting("Welcome to Debian")).toBeUndefined();
  expect(parseGreeting("motd: nacre-serve 1 0123456789abcdef fedcba9876543210")).toEqual({
    buildHash: "0123456789abcdef",
    epoch: "fedcba9876543210",
  });
  expect(parseGreeting("nacre-serve 2 0123456789abcdef fedcba9876543210")).toBeUndefined();
});

test("a key runs one call and refuses a different one; after its result was dropped, it gives remote_lost", async () => {
  const keys = new KeyStore();
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Bash" } } as const;
  const key = "0".repeat(32);
  expect(keys.begin(key, request)).toBeUndefined();
  const second = keys.begin(key, { ...request, id: 9, params: { name: "Bash", _meta: { other: 1 } } });
  keys.settle(key, { result: { n: 1 } }, 10);
  keys.settle(key, { result: { n: 2 } }, 10);
  expect(await second).toEqual({ result: { n: 1 } });
  expect(await keys.begin(key, { ...request, params: { name: "Read" } })).toMatchObject({
    error: { data: { code: "invalid_input" } },
  });
  for (let index = 1; index <= REMOTE_KEYS_MAX_COUNT; index++) {
    const other = index.toString(16).padStart(32, "0");
    void keys.begin(other, request);
    keys.settle(other, { result: {} }, 10);
  }
  expect(await keys.begin(key, request)).toMatchObject({ error: { data: { code: "remote_lost" } } });
});
