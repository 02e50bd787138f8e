// The adapter to the parser unbash. unbash reads some syntax differently from bash. This file and the walk handle such
// syntax. This file also finds characters that make a text look different from what bash reads.

import { type ParsedScript, parse } from "unbash";
import { POLICY_PACKED_MAX_CHARS } from "../../support/limits.ts";
import type { Span } from "./span.ts";

export function parseText(text: string): ParsedScript {
  return parse(text);
}

/** Characters that hide part of the text: control, zero-width and direction characters, lone surrogates. */
export function hiddenCharacters(text: string): { readonly span: Span; readonly code: string } | null {
  const found = HIDDEN.exec(text);
  if (found === null) return null;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return { span: { start: found.index, end: found.index + found[0].length }, code: `U+${code}` };
}

const CONTROL = String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\xad]`;
const ZERO_WIDTH = String.raw`[\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]`;
const NO_CHARACTER = String.raw`[\ufdd0-\ufdef\ufffe\uffff\u{e0000}-\u{e007f}]|\p{Cs}`;
// A zero-width joiner is harmless only between emoji.
const LONE_JOINER = String.raw`(?<![\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])\u200d`;
// Includes the carriage return: bash reads it as an ordinary character, but a terminal then overwrites the line.
const HIDDEN = new RegExp([CONTROL, ZERO_WIDTH, NO_CHARACTER, LONE_JOINER].join("|"), "u");

/**
 * Whether the text is a fork bomb that bash rejects because a blank is missing: `:(){:|:&};:`. This spelling is common,
 * and other shells run it.
 */
export function isPackedForkBomb(text: string): boolean {
  const packed = text.slice(0, POLICY_PACKED_MAX_CHARS).replace(/\s+/g, "");
  return /(?:^|[;&|(])(?:function)?([^\s;&|(){}]{1,64})\(\)\{\1\|\1&\}/.test(packed);
}
