// Encodes named keys and text as the bytes that a terminal sends.
import { NacreError } from "../support/errors.ts";
import { excerpt } from "../support/excerpt.ts";
import { nearest } from "../support/nearest.ts";

/** Terminal modes, set by the program, that change the bytes of a key. */
export interface KeyModes {
  /** Whether the program expects the alternative codes for the cursor keys (DECCKM). */
  readonly applicationCursor: boolean;
  /** Whether the program expects marks around pasted text (bracketed paste). */
  readonly bracketedPaste: boolean;
}

const ESC = "\x1b";
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

const FIXED: Readonly<Record<string, string>> = {
  Enter: "\r",
  Tab: "\t",
  Escape: ESC,
  Backspace: "\x7f",
  PageUp: `${ESC}[5~`,
  PageDown: `${ESC}[6~`,
  Delete: `${ESC}[3~`,
  ...{ F1: `${ESC}OP`, F2: `${ESC}OQ`, F3: `${ESC}OR`, F4: `${ESC}OS`, F5: `${ESC}[15~`, F6: `${ESC}[17~` },
  ...{ F7: `${ESC}[18~`, F8: `${ESC}[19~`, F9: `${ESC}[20~`, F10: `${ESC}[21~`, F11: `${ESC}[23~` },
  F12: `${ESC}[24~`,
};

/** The final byte of each cursor key. */
const CURSOR: Readonly<Record<string, string>> = {
  Up: "A",
  Down: "B",
  Right: "C",
  Left: "D",
  Home: "H",
  End: "F",
};

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** The names of all keys. A letter after `Ctrl-` or `Alt-` can be in either case. */
export const KEY_NAMES: readonly string[] = [
  ...Object.keys(FIXED),
  ...Object.keys(CURSOR),
  ...LETTERS.map((letter) => `Ctrl-${letter.toUpperCase()}`),
  ...LETTERS.map((letter) => `Alt-${letter}`),
];

/** Throws for an unknown key. The error names the most similar key. */
export function checkKey(key: string): void {
  encodeKey(key, { applicationCursor: false, bracketedPaste: false });
}

export function encodeKey(key: string, { applicationCursor }: KeyModes): string {
  const fixed = Object.hasOwn(FIXED, key) ? FIXED[key] : undefined;
  if (fixed !== undefined) return fixed;
  const cursor = Object.hasOwn(CURSOR, key) ? CURSOR[key] : undefined;
  if (cursor !== undefined) return `${ESC}${applicationCursor ? "O" : "["}${cursor}`;
  const [, modifier, letter = ""] = /^(Ctrl|Alt)-([A-Za-z])$/.exec(key) ?? [];
  if (modifier === "Ctrl") return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f);
  if (modifier === "Alt") return `${ESC}${letter}`;
  throw unknownKey(key);
}

function unknownKey(key: string): NacreError {
  const hint = nearest(key, KEY_NAMES);
  const text = [...key].length === 1 ? ` To type the character ${excerpt(key)}, give it as text.` : "";
  return new NacreError(
    "invalid_input",
    `Unknown key ${excerpt(key)}.${hint === undefined ? "" : ` Did you mean ${hint}?`}${text} Keys are Enter, Tab, Escape, Backspace, Delete, Up, Down, Left, Right, Home, End, PageUp, PageDown, F1 to F12, Ctrl-<letter> and Alt-<letter>.`,
  );
}

/**
 * The bytes for text, with Enter for each newline. If the program supports bracketed paste, marks text with several
 * lines or tabs as pasted: otherwise the program would run, indent or complete each line. Newlines at the end of the
 * text are always Enter keys.
 */
export function encodeTyped(text: string, { bracketedPaste }: KeyModes): string {
  const typed = text.replaceAll(/\r\n?|\n/g, "\r");
  const body = typed.replace(/\r+$/, "");
  const marked = bracketedPaste && /[\r\t]/.test(body) && !body.includes(ESC);
  return marked ? `${PASTE_START}${body}${PASTE_END}${typed.slice(body.length)}` : typed;
}

/**
 * The bytes of encodeTyped in pieces, one for each line, because a program can ask for a secret after any Enter. A
 * marked paste is one piece, because the program reads it as a unit.
 */
export function typedPieces(text: string, modes: KeyModes): string[] {
  const typed = encodeTyped(text, modes);
  return typed.startsWith(PASTE_START) ? [typed] : (typed.match(/[^\r]*\r|[^\r]+$/g) ?? []);
}
