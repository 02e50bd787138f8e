// Takes secrets out of output: the values of dropped variables, and what looks like a well-known token.
// Best effort by nature: a secret in hexadecimal or spelled backwards passes. Streams are cut anywhere and
// give the same text as the whole would: what could still grow into a secret is held back, and only that.
//   push(text)     values (value-search.ts) and shapes (token-shapes.ts) found in what is not given out yet
//   #holdFrom()    where the part begins that more text could turn into a secret
//   #release()     everything before it, each stretch of overlapping secrets replaced by one mark
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
  /** Values to hide wherever they appear; shorter ones than REDACT_VALUE_MIN_CHARS are ignored. */
  readonly values?: readonly NamedValue[];
  /** @default true */
  readonly enabled?: boolean;
}

export interface Redactor {
  /** The text that is decided by now. */
  push(text: string): string;
  /** The rest. The redactor can be used again afterwards. */
  end(): string;
}

/** The whole of a text at once. */
export function redact(text: string, options: RedactorOptions = {}): string {
  if (text === "") return "";
  const redactor = createRedactor(options);
  return redactor.push(text) + redactor.end();
}

export function createRedactor(options: RedactorOptions = {}): Redactor {
  if (options.enabled === false) return { push: (text) => text, end: () => "" };
  return new StreamRedactor(searchFor(options.values ?? NO_VALUES));
}

/** Of a list that is used again and again, once: making it ready takes longer than a short text does. */
const known = new WeakMap<readonly NamedValue[], ValueSearch>();
const NO_VALUES: readonly NamedValue[] = [];

function searchFor(values: readonly NamedValue[]): ValueSearch {
  const ready = known.get(values) ?? new ValueSearch(values);
  known.set(values, ready);
  return ready;
}

interface Secret {
  /** Where the shape begins, and where the part of it that is hidden does. */
  readonly at: number;
  readonly hiddenAt: number;
  readonly end: number;
  readonly label: string;
}

class StreamRedactor implements Redactor {
  readonly #values: ValueSearch;
  // Starts with the last characters already given out: shapes look back.
  #buffer = "";
  #givenChars = 0;
  #wakesOn: RegExp | undefined;

  constructor(values: ValueSearch) {
    this.#values = values;
  }

  push(text: string): string {
    this.#buffer += text;
    const isOverfull = this.#buffer.length > 2 * REDACT_HOLD_MAX_CHARS;
    // Nothing in this chunk can decide what is held: looking again for every byte would be quadratic.
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
    const { found, openAt } = this.#values.scan(this.#buffer, this.#givenChars);
    const values = found.map(({ at, end, name }) => ({ at, hiddenAt: at, end, label: name }));
    const secrets = [...values, ...shapesIn(this.#buffer, this.#givenChars)];
    return {
      secrets: secrets.sort((a, b) => a.hiddenAt - b.hiddenAt || a.at - b.at || b.end - a.end),
      openAt,
    };
  }

  /** Gives out everything before `until`, and to its end a secret that begins before it. */
  #release(secrets: readonly Secret[], until: number): string {
    const parts: string[] = [];
    let at = this.#givenChars;
    for (const { at: start, hiddenAt, end, label } of secrets) {
      if (start >= until && hiddenAt >= at) break;
      // The rest of a secret that overlaps with the one before it goes with that one.
      if (hiddenAt >= at) parts.push(this.#buffer.slice(at, hiddenAt), `[redacted:${label}]`);
      at = Math.max(at, end);
    }
    const end = Math.max(at, until);
    parts.push(this.#buffer.slice(at, end));
    this.#givenChars = Math.min(end, REDACT_LOOKBEHIND_MAX_CHARS);
    this.#buffer = this.#buffer.slice(end - this.#givenChars);
    return parts.join("");
  }

  /** Where the part begins that more text could turn into a secret, and what such text must contain to decide it. */
  #holdFrom(openAt: number): Hold {
    // Shapes contain no white space, and nothing is longer than the limit: what starts before is decided.
    const earliest = Math.max(this.#givenChars, this.#buffer.length - REDACT_HOLD_MAX_CHARS);
    const holds = [
      { at: Math.max(earliest, lastRunStart(this.#buffer, earliest)), wakesOn: /\s/ },
      openPrivateKey(this.#buffer, earliest),
      { at: openAt, wakesOn: undefined },
    ];
    return holds.reduce((first, hold) => (hold.at < first.at ? hold : first));
  }
}

/** A secret that begins before the hold and ends behind it may overlap with what is still to come. */
function beforeOverlaps(secrets: readonly Secret[], hold: number): number {
  let until = hold;
  // From the last to the first: a chain of overlapping secrets takes one pass, not one for each of them.
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
  // What stands before these may have been given out already.
  const before = Math.max(0, from - REDACT_LOOKBEHIND_MAX_CHARS);
  const escaped = matchesOf(ESCAPED, text, before).map((found) => ({
    ...found,
    label: labelOf(text, found.hiddenAt),
  }));
  const headers = matchesOf(HEADERS, text, before).map((found) => ({ ...found, label: "authorization" }));
  const behind = [...escaped, ...headers].filter(({ hiddenAt }) => hiddenAt >= from);
  return [...shapes, ...behind.map((found) => ({ ...found, at: found.hiddenAt }))];
}

/** `hiddenAt`: behind what the first group of the pattern has matched. */
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
  readonly wakesOn: RegExp | undefined;
}

function lastRunStart(text: string, earliest: number): number {
  let at = text.length;
  while (at > earliest && !/\s/.test(text.charAt(at - 1))) at--;
  return at;
}

// A block is decided once its footer is there, or once what stands in the footer's place is none.
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
  // The header has spaces in it, so it may be cut where no run of characters is.
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
// Three patterns: each begins with characters that the engine can skip to.
const SHAPES = new RegExp(
  [PRIVATE_KEY, ...TOKEN_SHAPES.map(({ source }) => source), URL_PASSWORD].join("|"),
  "g",
);
const ESCAPED = new RegExp(`(${ESCAPE})(?:${TOKEN_SHAPES.map(({ body }) => body).join("|")})`, "g");
const HEADERS = new RegExp(AUTHORIZATION, "g");
const FOOTER_FIRST = new RegExp(`^${PEM_FOOTER}`);
const HEADER_FIRST = new RegExp(`^${PEM_HEADER}`);
