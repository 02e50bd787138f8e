// Whatever a client says, the server answers each request once, and goes on. No case runs a command: what is called
// has arguments that are refused.
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "../../src/mcp/line-splitter.ts";
import type { Scanned } from "../../src/mcp/message-scan.ts";
import { FUZZ_MAX_MS, FUZZ_RUNS } from "../fixtures/fuzz.ts";
import { eventually } from "../fixtures/shells.ts";
import { useMcp } from "./mcp-clients.ts";

const { inProcess } = useMcp();
const timeout = FUZZ_MAX_MS;

test("lines come out as they went in, however the bytes were cut", { timeout }, () => {
  const text = fc.string({ unit: "binary", maxLength: 30 }).map((words) => words.replaceAll("\n", ""));
  fc.assert(
    fc.property(fc.array(text), fc.array(fc.nat(40)), (lines, cuts) => {
      const splitter = new LineSplitter(64);
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const got: (string | Scanned | undefined)[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        got.push(...splitter.push(bytes.subarray(at, at + cut)));
        at += cut;
      }
      got.push(...splitter.end());
      const told = got.map((line) => (typeof line === "string" ? line : undefined));
      expect(told).toEqual(
        lines.map((line) => (Buffer.byteLength(line) > 64 ? undefined : Buffer.from(line).toString())),
      );
    }),
    { numRuns: FUZZ_RUNS },
  );
});

/** Never a command that bash would be given. */
const noCommand = fc.oneof(
  fc.constantFrom("", " ", "\t\n", "a\0b", null, 7, true, [], {}),
  fc.array(fc.jsonValue(), { maxLength: 2 }),
);
const args = fc.oneof(
  fc.record(
    {
      command: noCommand,
      timeout: fc.jsonValue(),
      run_in_background: fc.jsonValue(),
      description: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
  fc.record(
    { bash_id: fc.jsonValue(), filter: fc.jsonValue(), wait_ms: fc.jsonValue() },
    { requiredKeys: [] },
  ),
  fc.record({ shell_id: fc.jsonValue(), __proto__: fc.jsonValue() }, { requiredKeys: [] }),
  fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"command"')),
);
const call = fc.record(
  {
    name: fc.oneof(fc.constantFrom("Bash", "BashOutput", "KillShell", "bash", "nothing", ""), fc.jsonValue()),
    arguments: args,
    _meta: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const method = fc.oneof(
  fc.constantFrom("tools/call", "tools/call", "tools/list", "ping", "resources/read", "prompts/list"),
  fc.string({ maxLength: 12 }),
);
const request = fc.record({
  method,
  params: fc.oneof(call, fc.object({ maxDepth: 2 })),
  more: fc.option(fc.object({ maxDepth: 1 }), { nil: {}, freq: 5 }),
});
const nonsense = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }).map((text) => text.replaceAll("\n", " ")),
  fc.json({ maxDepth: 3 }),
  fc.constantFrom("{", "[]", "null", "1", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}'),
);

test("every request gets one answer, whatever the messages contain", { timeout }, async () => {
  const { transport, client } = await inProcess({ policy: "standard" });
  const samples = fc.sample(fc.tuple(request, nonsense, fc.nat()), FUZZ_RUNS);
  // The client has no part in this: it would take some of it for answers to its own questions.
  transport.onmessage = () => {};
  for (let from = 0; from < samples.length; from += 100) {
    const ids = new Set<string>();
    transport.received.length = 0;
    for (const [index, [{ method, params, more }, noise, cut]] of samples.slice(from, from + 100).entries()) {
      const id = `fuzz-${from + index}`;
      ids.add(id);
      // A subscription is answered at its end.
      const named = method === "subscriptions/listen" ? "ping" : method;
      const line = `${JSON.stringify({ ...more, jsonrpc: "2.0", id, method: named, params })}\n`;
      transport.say(line.slice(0, cut % line.length));
      transport.say(line.slice(cut % line.length));
      transport.say(`${noise}\n`);
    }
    await eventually(() => {
      const answered = transport.received.map((message) => (message as { id?: unknown }).id);
      const ours = answered.filter((id) => typeof id === "string" && ids.has(id));
      expect(ours).toEqual([...new Set(ours)]);
      // Named by what was said, for whoever has to find out why.
      const missing = samples
        .slice(from, from + 100)
        .filter((_, index) => !ours.includes(`fuzz-${from + index}`))
        .map(([said]) => JSON.stringify(said));
      expect(missing).toEqual([]);
    }, 20_000);
  }
  expect(client.getServerVersion()?.name).toBe("nacre");
});
