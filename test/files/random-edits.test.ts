// Random edits of every kind of text change only the requested bytes.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { applyEdits } from "../../src/files/edit-text.ts";
import { decodeFile, encodeText } from "../../src/files/text-file.ts";
import { useFileTools } from "../fixtures/file-tools.ts";
import { isLong } from "../fixtures/long.ts";
import { randomFrom } from "../fixtures/random-scripts.ts";

const { kit, path } = useFileTools();
const ON_DISK = isLong ? 2_000 : 40;

const WORDS = ["alpha", "beta", "Ünïcode", "漢字", "🎉", "x", "\t", "", "a  b", "$& $1", "\\n"];
const ENDINGS = { lf: ["\n"], crlf: ["\r\n"], mixed: ["\n", "\r\n", "\r"] } as const;
const KINDS = ["lf", "crlf", "mixed", "bom", "utf-16le", "utf-16be", "no final newline", "empty"] as const;

function bytesFor(kind: (typeof KINDS)[number], random: (below: number) => number): Buffer {
  if (kind === "empty") return Buffer.alloc(0);
  const endings = kind === "crlf" ? ENDINGS.crlf : kind === "mixed" ? ENDINGS.mixed : ENDINGS.lf;
  const lines = Array.from({ length: 1 + random(12) }, () => {
    const words = Array.from({ length: random(5) }, () => WORDS[random(WORDS.length)] ?? "");
    return words.join(" ") + (endings[random(endings.length)] ?? "\n");
  });
  const text = kind === "no final newline" ? `${lines.join("")}end` : lines.join("");
  if (kind === "bom") return encodeText(text, "utf-8-bom");
  return encodeText(text, kind === "utf-16le" || kind === "utf-16be" ? kind : "utf-8");
}

test("2,000 random edits change only the requested bytes", () => {
  const random = randomFrom(42);
  const counts = new Map<string, number>();
  for (let i = 0; i < 2_000; i++) {
    const kind = KINDS[i % KINDS.length] ?? "lf";
    const bytes = bytesFor(kind, random);
    const { text, encoding } = decodeFile(bytes, "file");
    // Choose a piece of the file that consists of whole characters.
    const units = [...text];
    const from = random(units.length);
    const piece = units.slice(from, from + 1 + random(8)).join("");
    const start = units.slice(0, from).join("").length;
    const written = `<${WORDS[random(WORDS.length)]}>`;
    const before = encodeText(text.slice(0, start), encoding);
    const isUnique = text === "" || text.indexOf(piece) === text.lastIndexOf(piece);
    const edit = { old_string: piece, new_string: written, replace_all: false };
    const apply = () => encodeText(applyEdits(text, [edit], () => "").text, encoding);
    if (!isUnique) expect(apply).toThrow(/occurs \d+ times/);
    else {
      const after = apply();
      const rest = bytes.subarray(encodeText(text.slice(0, start) + piece, encoding).length);
      const middle = Buffer.from(written, encoding.startsWith("utf-16") ? "utf16le" : "utf8");
      if (encoding === "utf-16be") middle.swap16();
      expect(after.equals(Buffer.concat([before, middle, rest])), `${kind} ${i}`).toBe(true);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  for (const kind of KINDS) expect([kind, (counts.get(kind) ?? 0) > 30]).toEqual([kind, true]);
});

test(`${ON_DISK} random edits through the tool change only the requested bytes on disk`, async () => {
  const random = randomFrom(7);
  for (let i = 0; i < ON_DISK; i++) {
    const kind = KINDS[i % KINDS.length] ?? "lf";
    const [before, after] = [bytesFor(kind, random), bytesFor(kind, random)];
    const encoding =
      kind === "bom" ? "utf-8-bom" : kind.startsWith("utf-16") ? (kind as "utf-16le") : "utf-8";
    const plain = (bytes: Buffer) => bytes.subarray(encodeText("", encoding).length);
    // The marker occurs once, so every edit applies.
    const [old_string, new_string] = [`<MARK ${i}>`, `<${WORDS[random(WORDS.length)]} ${i}>`];
    const fileWith = (text: string) =>
      Buffer.concat([before, plain(encodeText(text, encoding)), plain(after)]);
    writeFileSync(path("file"), fileWith(old_string));
    await kit().call("Read", { file_path: "file" });
    const result = await kit().call("Edit", { file_path: "file", old_string, new_string });
    expect([i, kind, result.error]).toEqual([i, kind, undefined]);
    expect(readFileSync(path("file")).equals(fileWith(new_string)), `${kind} ${i}`).toBe(true);
  }
}, 3_600_000);

test("an edit of one line of 10 MB changes only the requested bytes", async () => {
  const text = `${"0123456789".repeat(500_000)}MARK${"9876543210".repeat(500_000)}`;
  writeFileSync(path("line"), text);
  await kit().call("Read", { file_path: "line" });
  const result = await kit().call("Edit", { file_path: "line", old_string: "MARK", new_string: "!" });
  expect(result).toMatchObject({ success: true });
  expect(readFileSync(path("line"), "utf8") === text.replace("MARK", "!")).toBe(true);
});
