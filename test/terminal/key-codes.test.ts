// The bytes that a terminal gets for keys and text.
import { expect, test } from "vitest";
import { encodeKey, encodeTyped, KEY_NAMES } from "../../src/terminal/key-codes.ts";
import { QueryFilter } from "../../src/terminal/query-filter.ts";

const PLAIN = { applicationCursor: false, bracketedPaste: false };

test("every documented key has a unique code, except keys that send the same byte in every terminal", () => {
  const codes = KEY_NAMES.map((key) => encodeKey(key, PLAIN));
  expect(KEY_NAMES).toHaveLength(25 + 52);
  expect(codes.every((code) => code !== "")).toBe(true);
  // Ctrl-I is Tab, Ctrl-M is Enter.
  expect(new Set(codes).size).toBe(KEY_NAMES.length - 2);
});

test.each([
  ["Enter", "\r"],
  ["Ctrl-C", "\x03"],
  ["Ctrl-c", "\x03"],
  ["Alt-x", "\x1bx"],
  ["Alt-X", "\x1bX"],
  ["Up", "\x1b[A"],
  ["F5", "\x1b[15~"],
])("the key %s has its code", (key, code) => {
  expect(encodeKey(key, PLAIN)).toBe(code);
});

test("a program can switch the codes of the cursor keys", () => {
  expect(encodeKey("Up", { ...PLAIN, applicationCursor: true })).toBe("\x1bOA");
});

test.each([
  ["Entr", "Enter"],
  ["Ctrl+C", "Ctrl-C"],
  ["pagedown", "PageDown"],
  ["toString", ""],
  ["__proto__", ""],
  ["", ""],
])("the key %j is unknown", (key, hint) => {
  expect(() => encodeKey(key, PLAIN)).toThrow(hint === "" ? "Unknown key" : `Did you mean ${hint}?`);
});

test("a newline is sent as Enter; several lines are marked as pasted if the program has enabled that", () => {
  const paste = { ...PLAIN, bracketedPaste: true };
  expect(encodeTyped("a\r\nb\n", PLAIN)).toBe("a\rb\r");
  expect(encodeTyped("a\nb\n", paste)).toBe("\x1b[200~a\rb\x1b[201~\r");
  expect(encodeTyped("one line\n", paste)).toBe("one line\r");
  // Text that contains the end mark of a paste is sent without marks.
  expect(encodeTyped("a\n\x1b[201~rm\n", paste)).toBe("a\r\x1b[201~rm\r");
});

test("an attached terminal gets no queries and no clipboard or window operations, wherever bytes are split", () => {
  const queries = [
    "\x1b[6n",
    "\x1b[c",
    "\x1b[>c",
    "\x1b[?6n",
    "\x1b[>q",
    "\x1b[?2004$p",
    "\x1b[?u",
    "\x1b[21t",
  ];
  const texts = ["\x1b]11;?\x07", "\x1b]52;c;aGk=\x07", "\x1bP+q544e\x1b\\", "\x1bP$qm\x1b\\", "\x1bZ"];
  const kept = ["a", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x1b[?1049h", "ä"];
  const bytes = Buffer.from(
    [...queries, ...texts].map((one, index) => `${kept[index % kept.length]}${one}`).join(""),
  );
  const wanted = [...queries, ...texts].map((_, index) => kept[index % kept.length]).join("");
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const filter = new QueryFilter();
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(filter.push(bytes.subarray(at, at + size)));
    expect(Buffer.concat(pieces).toString(), `pieces of ${size}`).toBe(wanted);
  }
});
