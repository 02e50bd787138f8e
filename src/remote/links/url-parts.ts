// Decodes and checks the parts of a remote URL. The error names the part that is wrong.
import { NacreError } from "../../support/errors.ts";
import { EXCERPT_MAX_CHARS, REMOTE_NAME_MAX_CHARS } from "../../support/limits.ts";
import type { UrlParts } from "./link.ts";

const FORMS =
  'ssh://[user@]host[:port], docker://container, podman://container, kubernetes://[namespace/]pod[?container=NAME], slurm://JOBID, command:["program", …]; each with an optional ?cwd=DIRECTORY';

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** Returns the directory at the remote end. Throws if the query has a parameter other than cwd and `known`. */
export function readCwd({ url, query }: UrlParts, ...known: readonly string[]): string | undefined {
  for (const name of query.keys()) {
    if (name !== "cwd" && !known.includes(name)) throw badUrl(url, `there is no parameter ${name}`);
  }
  const cwd = query.get("cwd");
  if (cwd === undefined) return undefined;
  if (!cwd.startsWith("/") || CONTROL.test(cwd))
    throw badUrl(url, "cwd must be an absolute path without control characters");
  return cwd;
}

/** Returns this part of the URL. Throws if it does not match `pattern`, or if a program would read it as an option. */
export function checkedPart(url: string, what: string, value: string, pattern: RegExp): string {
  if (value === "") throw badUrl(url, `${what} is missing`);
  if (value.startsWith("-"))
    throw badUrl(url, `${what} begins with a dash: the client program would read it as an option`);
  const shown = JSON.stringify(value.slice(0, EXCERPT_MAX_CHARS));
  if (value.length > REMOTE_NAME_MAX_CHARS)
    throw badUrl(url, `${what} ${shown} is longer than ${REMOTE_NAME_MAX_CHARS} characters`);
  if (!pattern.test(value)) throw badUrl(url, `${what} ${shown} has characters that such a name cannot have`);
  return value;
}

export function badUrl(url: string, problem: string): NacreError {
  const shown = JSON.stringify(url.slice(0, EXCERPT_MAX_CHARS));
  return new NacreError(
    "invalid_input",
    `The remote URL ${shown} cannot be used: ${problem}. The forms are ${FORMS}.`,
  );
}

export function readQuery(url: string, text: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  if (text === "") return query;
  for (const pair of text.split("&")) {
    const at = pair.indexOf("=");
    const name = decodedPart(url, at < 0 ? pair : pair.slice(0, at));
    if (at < 0 || query.has(name))
      throw badUrl(url, `the parameter ${JSON.stringify(name)} must be given once, as NAME=VALUE`);
    query.set(name, decodedPart(url, pair.slice(at + 1)));
  }
  return query;
}

export function decodedPart(url: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl(url, "a percent sign is not followed by two hexadecimal digits");
  }
}
