// Takes secrets out of output: the values of dropped variables, and what looks like a well-known token.
// Best effort by nature: a secret in base64 or spelled backwards passes. Streams are cut anywhere and give
// the same text as the whole would: what could still grow into a secret is held back, and only that.
import { REDACT_HOLD_MAX_CHARS, REDACT_VALUE_MIN_CHARS } from "../support/limits.ts";
import {
  PEM_FOOTER,
  PEM_FOOTER_MAX_CHARS,
  PEM_HEADER,
  PRIVATE_KEY,
  TOKEN_SHAPES,
  URL_PASSWORD,
} from "./token-shapes.ts";

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

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
  return new StreamRedactor(secretsOf(options.values ?? NO_VALUES));
}

/** What is looked for, made ready. */
interface Secrets {
  readonly names: ReadonlyMap<string, string>;
  /** The longest first: of two values that begin alike the longer one is meant. */
  readonly values: readonly string[];
  readonly pattern: RegExp;
}

/** Of a list that is used again and again, once: making it ready takes longer than a short text does. */
const known = new WeakMap<readonly NamedValue[], Secrets>();
const NO_VALUES: readonly NamedValue[] = [];

function secretsOf(values: readonly NamedValue[]): Secrets {
  const ready = known.get(values) ?? prepare(values);
  known.set(values, ready);
  return ready;
}

function prepare(values: readonly NamedValue[]): Secrets {
  const long = values.filter(({ value }) => value.length >= REDACT_VALUE_MIN_CHARS);
  const names = new Map(long.map(({ name, value }) => [value, name]));
  const sorted = [...names.keys()].sort((a, b) => b.length - a.length);
  return { names, values: sorted, pattern: secretsRegExp(sorted) };
}

class StreamRedactor implements Redactor {
  readonly #names: ReadonlyMap<string, string>;
  readonly #values: readonly string[];
  readonly #secrets: RegExp;
  readonly #holdMaxChars: number;
  // Starts with the last character already given out, where there is one: shapes look one character back.
  #buffer = "";
  #givenChars = 0;
  #wakesOn: RegExp | undefined;

  constructor({ names, values, pattern }: Secrets) {
    this.#names = names;
    this.#values = values;
    this.#secrets = pattern;
    this.#holdMaxChars = Math.max(REDACT_HOLD_MAX_CHARS, values[0]?.length ?? 0);
  }

  push(text: string): string {
    this.#buffer += text;
    const isOverfull = this.#buffer.length > 2 * this.#holdMaxChars;
    // Nothing in this chunk can decide what is held: looking again for every byte would be quadratic.
    if (this.#wakesOn !== undefined && !isOverfull && !this.#wakesOn.test(text)) return "";
    const hold = this.#holdFrom();
    this.#wakesOn = hold.wakesOn;
    return this.#release(hold.at);
  }

  end(): string {
    const rest = this.#release(this.#buffer.length);
    this.#buffer = "";
    this.#givenChars = 0;
    this.#wakesOn = undefined;
    return rest;
  }

  /** Gives out everything before `until`, and to its end a secret that begins before it. */
  #release(until: number): string {
    const parts: string[] = [];
    let at = this.#givenChars;
    this.#secrets.lastIndex = at;
    for (
      let found = this.#secrets.exec(this.#buffer);
      found !== null;
      found = this.#secrets.exec(this.#buffer)
    ) {
      if (found.index >= until) break;
      parts.push(this.#buffer.slice(at, found.index), this.#replacement(found));
      at = this.#secrets.lastIndex;
    }
    const end = Math.max(at, until);
    parts.push(this.#buffer.slice(at, end));
    this.#givenChars = end > 0 ? 1 : 0;
    this.#buffer = this.#buffer.slice(end - this.#givenChars);
    return parts.join("");
  }

  #replacement(found: RegExpExecArray): string {
    const name = this.#names.get(found[0]);
    if (name !== undefined) return `[redacted:${name}]`;
    if (found[1] !== undefined) return `${found[1]}[redacted:url-password]`;
    return `[redacted:${found[0].startsWith("-----BEGIN") ? "private-key" : labelOf(found[0])}]`;
  }

  /** Where the part begins that more text could turn into a secret, and what such text must contain to decide it. */
  #holdFrom(): Hold {
    // Shapes contain no white space, and nothing is longer than the limit: what starts before is decided.
    const earliest = Math.max(this.#givenChars, this.#buffer.length - this.#holdMaxChars);
    const holds = [
      { at: Math.max(earliest, lastRunStart(this.#buffer, earliest)), wakesOn: /\s/ },
      openPrivateKey(this.#buffer, earliest),
      { at: this.#openValue(earliest), wakesOn: undefined },
    ];
    return holds.reduce((first, hold) => (hold.at < first.at ? hold : first));
  }

  #openValue(earliest: number): number {
    const buffer = this.#buffer;
    let first = buffer.length;
    for (const value of this.#values) {
      const start = value.charAt(0);
      let at = buffer.indexOf(start, Math.max(earliest, buffer.length - value.length + 1));
      while (at !== -1 && at < first && !value.startsWith(buffer.slice(at)))
        at = buffer.indexOf(start, at + 1);
      if (at !== -1 && at < first) first = at;
    }
    return first;
  }
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

function secretsRegExp(values: readonly string[]): RegExp {
  const literal = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const shapes = TOKEN_SHAPES.map((shape) => shape.source);
  return new RegExp([...literal, PRIVATE_KEY, ...shapes, URL_PASSWORD].join("|"), "g");
}

function labelOf(token: string): string {
  return TOKEN_SHAPES.find(({ source }) => new RegExp(`^(?:${source})$`).test(token))?.label ?? "token";
}

const FOOTER_FIRST = new RegExp(`^${PEM_FOOTER}`);
const HEADER_FIRST = new RegExp(`^${PEM_HEADER}`);
