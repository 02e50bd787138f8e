// command:["program", "argument", …][?cwd=DIRECTORY]: any program that runs an argument list somewhere else. nacre
// appends the remote argument list to the array.
import { attempt } from "../../support/attempt.ts";
import type { Link } from "./link.ts";
import { badUrl, readCwd, readQuery } from "./url-parts.ts";

export function commandLink(url: string): Link {
  const text = url.slice("command:".length);
  const end = text.lastIndexOf("]") + 1;
  const argv = attempt(() => JSON.parse(text.slice(0, end)) as unknown);
  if (!isWords(argv))
    throw badUrl(url, '"command:" must be followed by a JSON array of strings, with the program first');
  const [program = ""] = argv;
  if (program === "" || program.startsWith("-"))
    throw badUrl(url, "the program is empty or begins with a dash");
  const after = text.slice(end);
  if (after !== "" && !after.startsWith("?"))
    throw badUrl(url, "after the array there can only be ?cwd=DIRECTORY");
  const parts = { url, rest: "", query: readQuery(url, after.slice(1)) };
  return { kind: "command", url, program, cwd: readCwd(parts), argv: (remote) => [...argv, ...remote] };
}

function isWords(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((word) => typeof word === "string" && !word.includes("\0"));
}
