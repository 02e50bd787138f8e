// Text transformations that are certain: escapes, printf formats, base64, hex, tr. Pure string work, no more than is
// needed to read what a pipe would hand to a shell.

import { POLICY_FOLDED_MAX_CHARS } from "../support/limits.ts";
import { SOMETHING, unmarked } from "./marks.ts";

/** Backslash escapes as `echo -e` and printf read them. */
export function decodeEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|0?[0-7]{1,3}|.)/gs, (_whole, body: string) => {
    const [kind = ""] = body;
    if (kind === "x" || kind === "u")
      return body.length > 1
        ? unmarked(String.fromCharCode(Number.parseInt(body.slice(1), 16)))
        : `\\${body}`;
    if (/[0-7]/.test(kind)) return String.fromCharCode(Number.parseInt(body, 8) & 0xff);
    return ESCAPES[kind] ?? `\\${body}`;
  });
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
  c: "",
};

/** printf: the format is used again until all values are. */
export function formatted(format: string, values: readonly string[]): string | null {
  const decoded = decodeEscapes(format);
  const left = values.values();
  let used = 0;
  let text = "";
  do {
    const before = used;
    text += formatOnce(decoded, () => {
      used += 1;
      return left.next().value ?? "";
    });
    if (used === before) break;
  } while (used < values.length && text.length < POLICY_FOLDED_MAX_CHARS);
  return text;
}

function formatOnce(format: string, next: () => string): string {
  return format.replace(
    /%(?:%|[-+ #0]*\d*(?:\.\d+)?([sbcqdiouxXfeEgG]))/g,
    (whole, kind: string | undefined) => {
      if (kind === undefined) return whole === "%%" ? "%" : whole;
      const value = next();
      if (kind === "b") return decodeEscapes(value);
      if (kind === "c") return value.slice(0, 1);
      return kind === "s" || kind === "q"
        ? value
        : /^\d+$/.test(value) && whole.length === 2
          ? value
          : SOMETHING;
    },
  );
}

export function decodeBase64(text: string): string | null {
  const compact = text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(compact)) return null;
  let bits = 0;
  let held = 0;
  let decoded = "";
  for (const char of compact) {
    held = (held << 6) | ALPHABET.indexOf(char);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      decoded += String.fromCharCode((held >> bits) & 0xff);
    }
  }
  return decoded;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function decodeHex(text: string): string | null {
  const compact = text.replace(/\s+/g, "");
  if (!/^([0-9A-Fa-f]{2})*$/.test(compact)) return null;
  return compact.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

/** tr, without classes and complements. */
export function translated(text: string, from: string, to: string): string | null {
  if (/\[:/.test(from + to)) return null;
  const source = trSet(from);
  const target = trSet(to);
  const table = new Map(
    source.map((char, i) => [char, target.length === 0 ? "" : (target[i] ?? target.at(-1) ?? "")]),
  );
  return [...text].map((char) => table.get(char) ?? char).join("");
}

function trSet(text: string): readonly string[] {
  const chars = [...decodeEscapes(text)];
  const set: string[] = [];
  for (let i = 0; i < chars.length && set.length < 1024; i++) {
    const first = chars[i]?.codePointAt(0) ?? 0;
    const last = chars[i + 1] === "-" ? chars[i + 2]?.codePointAt(0) : undefined;
    if (last === undefined || last < first || last - first > 255) set.push(chars[i] ?? "");
    else {
      for (let code = first; code <= last; code++) set.push(String.fromCodePoint(code));
      i += 2;
    }
  }
  return set;
}
