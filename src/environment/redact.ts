// Redacts secrets in output: the values of dropped variables, and tokens of well-known shapes. Best effort: it misses a
// secret in hexadecimal or in reverse. A part that may be the start of a secret is held back until more text arrives.
// So the result does not depend on how a stream is cut into chunks.
//   push(text)     finds values (value-search.ts) and shapes (token-shapes.ts) in the text that is not returned yet
//   #holdFrom()    the position from which text is held back
//   #release()     the text before that position, with one mark for each group of overlapping secrets
import {
  PEM_FOOTER_MAX_CHARS,
  REDACT_HOLD_MAX_CHARS,
  REDACT_LOOKBEHIND_MAX_CHARS,
} from "../support/limits.ts";
import {
  AUTHORIZATION,
  ESCAPE,
  PEM_FOOTER,
  PEM_HEADER,
  PRIVATE_KEY,
  TOKEN_SHAPES,
  URL_PASSWORD,
} from "./token-shapes.ts";
import { type NamedValue, ValueSearch } from "./value-search.ts";

export interface RedactorOptions {
  /** Values to redact. Values shorter than REDACT_VALUE_MIN_CHARS are ignored. */
  readonly values?: readonly NamedValue[];
  /** @default true */
  readonly enabled?: boolean;
}

export interface Redactor {
  /** Adds text. Returns the redacted text up to the part that is held back. */
  push(text: string): string;
  /** Returns the rest, redacted. The redactor can then be used again. */
  end(): string;
}

/** Redacts a whole text. */
export function redact(text: string, options: RedactorOptions = {}): string {
  if (text === "") return "";
  const redactor = createRedactor(options);
  return redactor.push(text) + redactor.end();
}

export function createRedactor(options: RedactorOptions = {}): Redactor {
  if (options.enabled === false) return { push: (text) => text, end: () => "" };
  return new StreamRedactor(searchFor(options.values ?? NO_VALUES));
}

/** A part of a text that redact() would replace with a mark. */
export interface SecretSpan {
  readonly at: number;
  readonly end: number;
  readonly mark: string;
}

/** The secrets in a whole text, in order and without overlaps, for a caller that must know their positions. */
export function secretSpans(text: string, { values = NO_VALUES }: RedactorOptions = {}): SecretSpan[] {
  const spans: SecretSpan[] = [];
  let at = 0;
  for (const { hiddenAt, end, label } of secretsIn(searchFor(values), text, 0).secrets) {
    const last = spans.at(-1);
    if (hiddenAt >= at) spans.push({ at: hiddenAt, end, mark: markOf(label) });
    else if (last && end > last.end) spans[spans.length - 1] = { ...last, end };
    at = Math.max(at, end);
  }
  return spans;
}

/** Every text that a redactor may write in place of a secret. */
export const REDACTION_MARK = /\[redacted:[^\]\s]{1,200}\]/g;

function markOf(label: string): string {
  return `[redacted:${label}]`;
}

/** One search per list of values, because building a search takes longer than searching a short text. */
const known = new WeakMap<readonly NamedValue[], ValueSearch>();
const NO_VALUES: readonly NamedValue[] = [];

function searchFor(values: readonly NamedValue[]): ValueSearch {
  const ready = known.get(values) ?? new ValueSearch(values);
  known.set(values, ready);
  return ready;
}

interface Secret {
  /** The start of the shape, and the start of its redacted part. */
  readonly at: number;
  readonly hiddenAt: number;
  readonly end: number;
  readonly label: string;
}

class StreamRedactor implements Redactor {
  readonly #values: ValueSearch;
  // The text that is not returned yet. It is preceded by the last #givenChars characters that were returned, because
  // shapes depend on the text before them.
  #buffer = "";
  #givenChars = 0;
  #wakesOn: RegExp | undefined;

  constructor(values: ValueSearch) {
    this.#values = values;
  }

  push(text: string): string {
    this.#buffer += text;
    const isOverfull = this.#buffer.length > 2 * REDACT_HOLD_MAX_CHARS;
    // This chunk cannot complete the part that is held back, so do not search it: searching again for every byte
    // would take quadratic time.
    if (this.#wakesOn !== undefined && !isOverfull && !this.#wakesOn.test(text)) return "";
    const { secrets, openAt } = this.#find();
    const hold = this.#holdFrom(openAt);
    this.#wakesOn = hold.wakesOn;
    return this.#release(secrets, Math.max(this.#givenChars, beforeOverlaps(secrets, hold.at)));
  }

  end(): string {
    const rest = this.#release(this.#find().secrets, this.#buffer.length);
    this.#buffer = "";
    this.#givenChars = 0;
    this.#wakesOn = undefined;
    return rest;
  }

  #find(): { readonly secrets: readonly Secret[]; readonly openAt: number } {
    return secretsIn(this.#values, this.#buffer, this.#givenChars);
  }

  /** Returns the text before `until`. A secret that begins before `until` is redacted as a whole. */
  #release(secrets: readonly Secret[], until: number): string {
    const parts: string[] = [];
    let at = this.#givenChars;
    for (const { at: start, hiddenAt, end, label } of secrets) {
      if (start >= until && hiddenAt >= at) break;
      // A secret that overlaps the previous one shares its mark.
      if (hiddenAt >= at) parts.push(this.#buffer.slice(at, hiddenAt), markOf(label));
      at = Math.max(at, end);
    }
    const end = Math.max(at, until);
    parts.push(this.#buffer.slice(at, end));
    this.#givenChars = Math.min(end, REDACT_LOOKBEHIND_MAX_CHARS);
    this.#buffer = this.#buffer.slice(end - this.#givenChars);
    return parts.join("");
  }

  /** The start of the part that more text could turn into a secret, and what that text must contain. */
  #holdFrom(openAt: number): Hold {
    // No shape is longer than the limit, so a shape that starts before this position is complete.
    const earliest = Math.max(this.#givenChars, this.#buffer.length - REDACT_HOLD_MAX_CHARS);
    const holds = [
      // Only a private key contains white space.
      { at: Math.max(earliest, lastRunStart(this.#buffer, earliest)), wakesOn: /\s/ },
      openPrivateKey(this.#buffer, earliest),
      { at: openAt, wakesOn: undefined },
    ];
    return holds.reduce((first, hold) => (hold.at < first.at ? hold : first));
  }
}

function secretsIn(
  search: ValueSearch,
  text: string,
  from: number,
): { readonly secrets: readonly Secret[]; readonly openAt: number } {
  const { found, openAt } = search.scan(text, from);
  const values = found.map(({ at, end, name }) => ({ at, hiddenAt: at, end, label: name }));
  const secrets = [...values, ...shapesIn(text, from)];
  return {
    secrets: secrets.sort((a, b) => a.hiddenAt - b.hiddenAt || a.at - b.at || b.end - a.end),
    openAt,
  };
}

/**
 * Moves the start of the held part back to the start of each secret that reaches into this part, because later text can
 * overlap with such a secret.
 */
function beforeOverlaps(secrets: readonly Secret[], hold: number): number {
  let until = hold;
  // Go from the last secret to the first: then a chain of overlapping secrets needs only one pass.
  const lastFirst = [...secrets].reverse();
  for (let before = -1; before !== until; ) {
    before = until;
    for (const { at, end } of lastFirst) if (at < until && until < end) until = at;
  }
  return until;
}

function shapesIn(text: string, from: number): Secret[] {
  const shapes = matchesOf(SHAPES, text, from).map(({ at, hiddenAt, end }) => {
    return { at, hiddenAt, end, label: hiddenAt > at ? "url-password" : labelOf(text, at) };
  });
  // The text that these shapes depend on may already be released, so the search starts before `from`.
  const before = Math.max(0, from - REDACT_LOOKBEHIND_MAX_CHARS);
  const escaped = matchesOf(ESCAPED, text, before).map((found) => ({
    ...found,
    label: labelOf(text, found.hiddenAt),
  }));
  const headers = matchesOf(HEADERS, text, before).map((found) => ({ ...found, label: "authorization" }));
  const behind = [...escaped, ...headers].filter(({ hiddenAt }) => hiddenAt >= from);
  return [...shapes, ...behind.map((found) => ({ ...found, at: found.hiddenAt }))];
}

/** `hiddenAt` is the end of the first group of the pattern. */
function matchesOf(pattern: RegExp, text: string, from: number): Omit<Secret, "label">[] {
  const all: Omit<Secret, "label">[] = [];
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const at = found.index;
    all.push({ at, hiddenAt: at + (found[1]?.length ?? 0), end: at + found[0].length });
  }
  return all;
}

interface Hold {
  readonly at: number;
  /** What new text must contain before a search is worthwhile; undefined if any new text is enough. */
  readonly wakesOn: RegExp | undefined;
}

function lastRunStart(text: string, earliest: number): number {
  let at = text.length;
  while (at > earliest && !/\s/.test(text.charAt(at - 1))) at--;
  return at;
}

// The start of a private key whose end is not in the text yet. The key has ended once its footer, or other text in
// place of the footer, follows.
function openPrivateKey(text: string, earliest: number): Hold {
  const header = new RegExp(PEM_HEADER, "g");
  header.lastIndex = earliest;
  for (let found = header.exec(text); found !== null; found = header.exec(text)) {
    const dashes = text.indexOf("--", header.lastIndex);
    if (dashes === -1) return { at: found.index, wakesOn: /-/ };
    const isDecided = FOOTER_FIRST.test(text.slice(dashes, dashes + PEM_FOOTER_MAX_CHARS));
    if (!isDecided && text.length < dashes + PEM_FOOTER_MAX_CHARS)
      return { at: found.index, wakesOn: undefined };
  }
  // Search for the header separately: it contains spaces, so the last run without white space may contain only a part
  // of it.
  const started = text.lastIndexOf("-----BEGIN ");
  const isCut = started >= Math.max(earliest, text.length - PEM_FOOTER_MAX_CHARS);
  const at = isCut && !HEADER_FIRST.test(text.slice(started)) ? started : text.length;
  return { at, wakesOn: undefined };
}

function labelOf(text: string, at: number): string {
  const shape = LABELED.find(({ pattern }) => {
    pattern.lastIndex = at;
    return pattern.test(text);
  });
  return shape?.label ?? "token";
}

const LABELED = [{ label: "private-key", body: PEM_HEADER }, ...TOKEN_SHAPES].map(({ label, body }) => ({
  label,
  pattern: new RegExp(body, "y"),
}));
// Use three patterns instead of one: the regex engine can then search for the first characters of each.
const SHAPES = new RegExp(
  [PRIVATE_KEY, ...TOKEN_SHAPES.map(({ source }) => source), URL_PASSWORD].join("|"),
  "g",
);
const ESCAPED = new RegExp(`(${ESCAPE})(?:${TOKEN_SHAPES.map(({ body }) => body).join("|")})`, "g");
const HEADERS = new RegExp(AUTHORIZATION, "g");
const FOOTER_FIRST = new RegExp(`^${PEM_FOOTER}`);
const HEADER_FIRST = new RegExp(`^${PEM_HEADER}`);
