// A program may print any bytes to its terminal. A model reads only plain text: on the screen, in the output
// before it, in search results and in errors.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { APPROVED, drive, expectPlain } from "../fixtures/terminals.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools: make } = useTools();
const TERMINALS = { terminals: true, shells: { killGraceMs: 100 } };

/** Complete, truncated and 8-bit sequences, unterminated strings, and bytes that are not UTF-8. */
const PARTS: readonly Buffer[] = [
  ...[
    "\x1b[31m",
    "\x1b[2J",
    "\x1b[",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[99999;1H",
    "\x1b[3",
    "\x1bc",
    "\x1b(0",
  ],
  ...[
    "\x1b]0;title\x07",
    "\x1b]2;title\x1b\\",
    "\x1b]8;;http://x\x07",
    "\x1b]52;c;aGk=\x07",
    "\x1b]0;never ended",
  ],
  ...[
    "\x1bPq#0;2;0;0;0~~\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b_Gf=100;AAAA\x1b\\",
    "\x1b^private\x1b\\",
    "\x1bXtext\x1b\\",
  ],
  ...[
    "\x18",
    "\x1a",
    "\x0e",
    "\x0f",
    "\b\b",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\x7f",
    "text",
    "ä漢😀",
    "\u202e\u2066",
  ],
].map((text) => Buffer.from(text));
const RAW: readonly Buffer[] = [
  [0x9b, 0x33, 0x31, 0x6d],
  [0x9d, 0x30, 0x3b, 0x74, 0x9c],
  [0x90, 0x71, 0x9c],
  [0x9f, 0x61, 0x9c],
  [0x85, 0x84, 0x8d],
  [0xc2, 0x9b, 0x41],
  [0xff, 0xfe, 0xc3],
  [0xed, 0xa0, 0x80],
].map((bytes) => Buffer.from(bytes));

/** Returns the same bytes for the same seed. The generator is linear congruential. */
function payload(seed: number): Buffer {
  let state = seed;
  const next = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const all = [...PARTS, ...RAW];
  return Buffer.concat(Array.from({ length: 300 }, () => all[next(all.length)] as Buffer));
}

const LONG_LINE = Buffer.concat([Buffer.alloc(1024 * 1024, "x"), Buffer.from("\x1b[31m\x9b31m")]);
const INPUTS = [LONG_LINE, ...Array.from({ length: isLong ? 200 : 6 }, (_, seed) => payload(seed + 1))];

test("a model reads only plain text from the output of a terminal", async () => {
  const tools = make(TERMINALS);
  for (const [index, bytes] of INPUTS.entries()) {
    const file = join(tools.dir, "bytes");
    writeFileSync(file, bytes);
    const shown = await drive(
      tools,
      `cat bytes; printf '\\030\\033c'; cat bytes; printf '\\030\\nup\\n'; stty sane; read -r x; exit 3`,
    );
    await shown.shell.waitFor("up", 60_000);
    const bash_id = shown.shell.id;
    for (const [tool, args] of [
      ["BashOutput", {}],
      ["BashOutput", { from_line: 1 }],
      ["BashOutput", { search: "t" }],
      ["BashInput", { wait_ms: 0 }],
      ["BashInput", { text: "\x1b[31m\n", wait_ms: 0 }],
    ] as const) {
      const result = await tools.call(tool, { bash_id, ...args }, APPROVED);
      expectPlain(result);
      expect(index + JSON.stringify(result.metadata)).not.toMatch(/\\u001b/);
    }
    await shown.shell.kill();
    expectPlain(await tools.bash("true"));
  }
}, 600_000);

test("every result shows control characters in the command itself as plain text", async () => {
  const tools = make({ ...TERMINALS, policy: "off" });
  const command = "printf '\x1b]0;title\x07\x1b[31mred'; echo up; read -r x # \x1b[2J\u009b31m";
  const shown = await drive(tools, command);
  await shown.shell.write("x\n");
  await shown.shell.wait(20_000);
  expectPlain(await tools.call("BashOutput", { bash_id: shown.shell.id }, APPROVED));
});
