import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageScan } from "../../src/mcp/message-scan.ts";
import { MCP_ID_MAX_BYTES } from "../../src/support/limits.ts";

function scan(text: string, size = text.length) {
  const scanning = new MessageScan();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) scanning.push(bytes.subarray(at, at + size));
  return scanning.result();
}

const IDS: readonly (readonly [string, string, unknown])[] = [
  ["first", '{"id":1,"method":"m"}', 1],
  ["last", '{"method":"m","params":{"a":1},"id":2}', 2],
  ["a string", '{"method":"m","id":"a-b"}', "a-b"],
  ["a string with escapes", '{"method":"m","id":"a\\"b\\\\\\u00e9\\n"}', 'a"b\\é\n'],
  ["a string with non-ASCII characters", '{"id":"é🐚","method":"m"}', "é🐚"],
  ["an empty string", '{"id":"","method":"m"}', ""],
  ["zero", '{"id":0,"method":"m"}', 0],
  ["negative", '{"id":-7,"method":"m"}', -7],
  ["with an exponent", '{"id":1e3,"method":"m"}', 1000],
  ["between spaces", ' \t{ "id" :\r 5 , "method" : "m" } ', 5],
  ["under a name with an escape", '{"\\u0069d":5,"method":"m"}', 5],
  ["twice: the last counts, as for JSON.parse", '{"id":1,"method":"m","id":2}', 2],
  ["next to an id in params", '{"params":{"id":9,"x":{"id":8}},"id":1,"method":"m"}', 1],
  ["next to an id in params that comes later", '{"id":1,"method":"m","params":{"id":9}}', 1],
  ["next to a string that looks like an id member", '{"params":"\\",\\"id\\":9,\\"","id":1,"method":"m"}', 1],
  ["next to a string that ends in a backslash", '{"params":"\\\\","id":1,"method":"m"}', 1],
  ["next to brackets inside strings", '{"params":{"a":"}}]]"},"id":1,"method":"m"}', 1],
  ["next to a list of objects", '{"params":[{"id":9},[{"id":8}]],"id":1,"method":"m"}', 1],
  ['next to the value "id"', '{"x":"id","y":9,"id":1,"method":"m"}', 1],
  ["only in params", '{"method":"m","params":{"id":9}}', null],
  ["only as a value", '{"method":"id","params":9}', null],
  ["null", '{"id":null,"method":"m"}', null],
  ["true", '{"id":true,"method":"m"}', null],
  ["an object", '{"id":{"id":3},"method":"m"}', null],
  ["a list", '{"id":[3],"method":"m"}', null],
  ["in a batch", '[{"id":1,"method":"m"},{"id":2,"method":"m"}]', null],
  ["a string that is too long", `{"id":"${"x".repeat(MCP_ID_MAX_BYTES)}","method":"m"}`, null],
  ["after a name that is too long", `{"${"x".repeat(5_000)}":1,"id":4,"method":"m"}`, 4],
  ["in text that is not JSON", '"id":1', null],
  ["after unmatched closing brackets", '}}{"id":6}', 6],
  ["in an empty object", "{}", null],
  ["in an empty text", "", null],
];

test.each(IDS)("the id of a message is found: %s", (_title, text, id) => {
  expect(scan(text).id).toBe(id);
});

test("the id is found wherever the bytes are cut", () => {
  for (const [, text, id] of IDS) {
    for (const size of [1, 2, 3, 5])
      expect([text.slice(0, 80), scan(text, size).id]).toEqual([text.slice(0, 80), id]);
  }
});

test("for any message, the scan finds the same id as JSON.parse", () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const message = fc.dictionary(fc.oneof(fc.constantFrom("id", "params", "method", "x"), fc.string()), value);
  fc.assert(
    fc.property(message, fc.integer({ min: 1, max: 20 }), fc.boolean(), (object, size, pretty) => {
      const text = JSON.stringify(object, null, pretty ? 2 : 0);
      const id: unknown = Object.hasOwn(object, "id") ? object["id"] : null;
      const isId = typeof id === "number" || (typeof id === "string" && JSON.stringify(id).length < 1_000);
      expect(scan(text, size).id).toEqual(isId ? id : null);
    }),
    { numRuns: 500 },
  );
});

test("the scan distinguishes an answer from a request by their top-level members", () => {
  expect(scan('{"id":1,"result":{"method":"m"}}').isResponse).toBe(true);
  expect(scan('{"error":{},"id":1}').isResponse).toBe(true);
  expect(scan('{"id":1,"method":"m","params":{"result":1}}').isResponse).toBe(false);
  expect(scan('{"id":1,"result":{},"method":"m"}').isResponse).toBe(false);
});
