// Adds the nacre server to the text of a client's configuration file. Keeps everything else, and refuses files that it
// cannot parse. Pure.
import { findNodeAtLocation, type ParseError, parse, parseTree, printParseErrorCode } from "jsonc-parser";
import { NacreError } from "../support/errors.ts";
import type { Client, ServerCommand } from "./clients.ts";

const NAME = "nacre";

/** The entry alone, for a person to copy. */
export function snippetFor({ format, section, entry }: Client, server: ServerCommand): string {
  if (format === "toml") return tomlBlock(section, entry(server));
  return `${JSON.stringify({ [section]: { [NAME]: entry(server) } }, null, 2)}\n`;
}

/** The whole file with the entry; the same text if nothing has to change. */
export function withServer(text: string, client: Client, server: ServerCommand, file: string): string {
  return client.format === "toml"
    ? withTomlBlock(text, client, server, file)
    : withJsonEntry(text, client, server, file);
}

/** Edits the text in place, so that comments, order and formatting of everything else survive. */
function withJsonEntry(text: string, client: Client, server: ServerCommand, file: string): string {
  const { section, entry } = client;
  if (text.trim() === "") return `${JSON.stringify({ [section]: { [NAME]: entry(server) } }, null, 2)}\n`;
  // The parser does not accept a byte order mark.
  const [, mark = "", json = ""] = /^(\ufeff?)([\s\S]*)$/.exec(text) ?? [];
  const servers = parsed(json, file)[section] ?? {};
  if (!isObject(servers)) throw refused(file, `its ${JSON.stringify(section)} is not an object`);
  const old = servers[NAME];
  // Keep what the user added, such as an environment.
  const wanted = { ...(isObject(old) ? old : {}), ...entry(server) };
  if (JSON.stringify(old) === JSON.stringify(wanted)) return text;
  return mark + withEntry(json, [section, NAME], wanted);
}

/** Replaces the value at the path, or adds it at the start of the innermost object that exists. */
function withEntry(json: string, path: readonly string[], value: unknown, depth = path.length): string {
  const tree = parseTree(json);
  const at = tree && findNodeAtLocation(tree, path.slice(0, depth));
  const text = (of: unknown, level: number) =>
    JSON.stringify(of, null, indentOf(json)).replaceAll(
      "\n",
      `${eolOf(json)}${indentOf(json).repeat(level)}`,
    );
  if (at && depth === path.length)
    return json.slice(0, at.offset) + text(value, depth) + json.slice(at.offset + at.length);
  if (!at) return withEntry(json, path, value, depth - 1);
  // Wrap the value in the objects that do not exist yet.
  const [key = "", ...inner] = path.slice(depth);
  const whole = inner.reduceRight<unknown>((of, name) => ({ [name]: of }), value);
  const newLine = (level: number) => `${eolOf(json)}${indentOf(json).repeat(level)}`;
  const added = `${newLine(depth + 1)}${JSON.stringify(key)}: ${text(whole, depth + 1)}`;
  const content = json.slice(at.offset + 1, at.offset + at.length - 1);
  return (
    json.slice(0, at.offset + 1) +
    added +
    contentAfterEntry(content, at.children?.length ?? 0, newLine(depth + 1), newLine(depth)) +
    json.slice(at.offset + at.length - 1)
  );
}

/** The earlier content of an object, after the new entry. Content on the line of a brace moves to its own line. */
function contentAfterEntry(content: string, count: number, beforeEntry: string, beforeEnd: string): string {
  const [, atStart = "", inner = "", atEnd = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(content) ?? [];
  if (inner === "") return beforeEnd;
  // Without entries, the content is a comment: keep it unchanged.
  if (count === 0) return content;
  if (atStart.includes("\n")) return `,${content}`;
  return `,${beforeEntry}${inner}${atEnd.includes("\n") ? atEnd : beforeEnd}`;
}

function parsed(json: string, file: string): Record<string, unknown> {
  const errors: ParseError[] = [];
  const value: unknown = parse(json, errors, { allowTrailingComma: true });
  const [broken] = errors;
  if (broken) {
    const line = json.slice(0, broken.offset).split("\n").length;
    const what = PARSE_ERRORS[printParseErrorCode(broken.error)] ?? "an unexpected character";
    throw refused(file, `it is not valid JSON at line ${line}: ${what}`);
  }
  if (!isObject(value)) throw refused(file, "it is not a JSON object");
  return value;
}

/** Descriptions of jsonc-parser's error codes. */
const PARSE_ERRORS: Readonly<Record<string, string>> = {
  InvalidSymbol: "a word is not in quotes",
  InvalidNumberFormat: "a number is incomplete",
  PropertyNameExpected: "a key in quotes is missing",
  ValueExpected: "a value is missing",
  ColonExpected: "a colon is missing",
  CommaExpected: "a comma or a closing bracket is missing",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "there is text after the last }",
  UnexpectedEndOfComment: "a comment has no end",
  UnexpectedEndOfString: "a string has no closing quote",
  UnexpectedEndOfNumber: "a number is incomplete",
  InvalidUnicode: "a string has an invalid \\u escape",
  InvalidEscapeCharacter: "a string has an invalid escape after \\",
  InvalidCharacter: "a string contains a control character",
};

function indentOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1]?.replace(/^\t.*/, "\t") ?? "  ";
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function withTomlBlock(text: string, client: Client, server: ServerCommand, file: string): string {
  const { section, entry } = client;
  const block = tomlBlock(section, entry(server));
  const lines = text.split("\n");
  const isHeader = (line: string) => /^\s*\[/.test(line);
  const start = lines.findIndex((line) => line.trim().replace(/\s*#.*$/, "") === `[${section}.${NAME}]`);
  if (start === -1) {
    if (isDefinedElsewhere(text, section))
      throw refused(file, `it defines ${section}.${NAME} in a form that nacre cannot edit`);
    const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
    return `${text}${gap}${block}`;
  }
  const next = lines.findIndex((line, index) => index > start && isHeader(line));
  const end = next === -1 ? lines.length : next;
  const old = lines.slice(start, end);
  if (old.join("\n").trim() === block.trim()) return text;
  const isOurs = (line: string) => /^\s*(#.*)?$|^\s*(command|args)\s*=.*["\]]\s*$/.test(line);
  if (!old.slice(1).every(isOurs)) throw refused(file, `${section}.${NAME} has additional settings`);
  return [...lines.slice(0, start), ...block.trimEnd().split("\n"), "", ...lines.slice(end)].join("\n");
}

/**
 * Whether the file defines the server in another TOML form: a dotted key, an inline table, or a section that is itself
 * an inline table.
 */
function isDefinedElsewhere(text: string, section: string): boolean {
  const [outer, inner] = [section, NAME].map((key) => `["']?${key}["']?\\s*`);
  const ways = [`\\[?\\s*${outer}\\.\\s*${inner}`, `${inner}(\\.|=\\s*\\{)`, `${outer}=`];
  return new RegExp(`^\\s*(${ways.join("|")})`, "m").test(text);
}

/** JSON strings and arrays are valid TOML. */
function tomlBlock(section: string, entry: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(entry).map(
    ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll('","', '", "')}`,
  );
  return `[${section}.${NAME}]\n${lines.join("\n")}\n`;
}

function refused(file: string, why: string): NacreError {
  return new NacreError(
    "invalid_input",
    `${file} was not changed: ${why}. Run \`nacre init\` without --write, and paste its output into the file.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
