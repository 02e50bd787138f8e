// Whatever a client sends, the server answers each request once and keeps running. No case runs a command: nacre
// refuses all generated arguments.
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "../../src/mcp/line-splitter.ts";
import type { Scanned } from "../../src/mcp/message-scan.ts";
import { FUZZ_MAX_MS, FUZZ_RUNS } from "../fixtures/fuzz.ts";
import { eventually } from "../fixtures/shells.ts";
import { useMcp } from "./mcp-clients.ts";

const { inProcess } = useMcp();
const timeout = FUZZ_MAX_MS;

test("the splitter returns lines unchanged, wherever the chunks are divided", { timeout }, () => {
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
      const texts = got.map((line) => (typeof line === "string" ? line : undefined));
      expect(texts).toEqual(
        lines.map((line) => (Buffer.byteLength(line) > 64 ? undefined : Buffer.from(line).toString())),
      );
    }),
    { numRuns: FUZZ_RUNS },
  );
});

/** Values that nacre refuses before it starts a command. */
const invalidCommand = fc.oneof(
  fc.constantFrom("", " ", "\t\n", "a\0b", null, 7, true, [], {}),
  fc.array(fc.jsonValue(), { maxLength: 2 }),
);
const args = fc.oneof(
  fc.record(
    {
      command: invalidCommand,
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
  // Disable the client: otherwise it would treat some of the answers as answers to its own requests.
  transport.onmessage = () => {};
  for (let from = 0; from < samples.length; from += 100) {
    const ids = new Set<string>();
    transport.received.length = 0;
    for (const [index, [{ method, params, more }, noise, cut]] of samples.slice(from, from + 100).entries()) {
      const id = `fuzz-${from + index}`;
      ids.add(id);
      // A subscription is answered only when it ends, so the test sends a ping instead.
      const named = method === "subscriptions/listen" ? "ping" : method;
      const line = `${JSON.stringify({ ...more, jsonrpc: "2.0", id, method: named, params })}\n`;
      transport.sendText(line.slice(0, cut % line.length));
      transport.sendText(line.slice(cut % line.length));
      transport.sendText(`${noise}\n`);
    }
    await eventually(() => {
      const answered = transport.received.map((message) => (message as { id?: unknown }).id);
      const ours = answered.filter((id) => typeof id === "string" && ids.has(id));
      expect(ours).toEqual([...new Set(ours)]);
      // Compare the unanswered requests with an empty list, so that a failure shows them.
      const missing = samples
        .slice(from, from + 100)
        .filter((_, index) => !ours.includes(`fuzz-${from + index}`))
        .map(([sent]) => JSON.stringify(sent));
      expect(missing).toEqual([]);
    }, 20_000);
  }
  expect(client.getServerVersion()?.name).toBe("nacre");
});
