// Adds the nacre server to the text of a client's configuration file. Keeps everything else, and refuses files that it
// cannot parse. Pure.
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

function withJsonEntry(text: string, client: Client, server: ServerCommand, file: string): string {
  const { section, entry } = client;
  const whole = text.trim() === "" ? {} : parsed(text, file);
  const servers = whole[section] ?? {};
  if (!isObject(servers)) throw refused(file, `its ${JSON.stringify(section)} is not an object`);
  const old = servers[NAME];
  // Keep what the user added, such as an environment.
  const wanted = { ...(isObject(old) ? old : {}), ...entry(server) };
  if (JSON.stringify(old) === JSON.stringify(wanted)) return text;
  const changed = { ...whole, [section]: { ...servers, [NAME]: wanted } };
  return `${JSON.stringify(changed, null, indentOf(text))}\n`;
}

function parsed(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    // JSON.parse rejects a byte order mark.
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    throw refused(file, "it is not plain JSON (it may have comments, which would be lost)");
  }
  if (!isObject(value)) throw refused(file, "it is not a JSON object");
  return value;
}

function indentOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
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
    `${file} was not changed: ${why}. Add the output of \`nacre init\` without --write by hand.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
