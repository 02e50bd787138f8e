// Links and copies that a command makes: noted when they are made, followed when a later path leads through them. A path
// is judged by where its links lead, and a copy of a program is judged as that program.

import { hasFlag, type Options, readOptions, valuesOf } from "./argv.ts";
import type { EffectiveCommand } from "./command.ts";
import type { MadePaths } from "./made-paths.ts";
import { isUnresolved, UNKNOWN } from "./marks.ts";
import { couldStartWith } from "./path-parts.ts";
import { changeDirectory } from "./paths.ts";

const TABLE = {
  values: "tSmog",
  longValues: ["target-directory", "suffix", "mode", "owner", "group"],
  long: ["symbolic", "symbolic-link", "relative", "no-target-directory", "parents"],
};

const MAKERS: ReadonlySet<string> = new Set(["mkdir", "ln", "cp", "mv", "install"]);

/** Notes what a command makes. */
export function rememberMade(command: EffectiveCommand, made: MadePaths): void {
  if (!MAKERS.has(command.program)) return;
  const options = readOptions(command.args, TABLE);
  for (const cwd of command.cwds) {
    if (command.program === "mkdir") {
      for (const { text } of options.operands) made.directories.add(changeDirectory(text, cwd));
    } else remember(command, options, cwd, made);
  }
}

function remember({ program }: EffectiveCommand, options: Options, cwd: string, made: MadePaths): void {
  const { sources, target } = transferOf(program, options);
  if (target === null) return;
  const isLink = hasFlag(options, "s", "symbolic", "symbolic-link") && program !== "install";
  // The text of a link is read from the link's own directory.
  const isRead = isLink && !hasFlag(options, "r", "relative") && program !== "cp";
  for (const text of sources) {
    const name = text.split("/").filter(Boolean).at(-1) ?? "";
    // A target that is a directory holds the link, any other is the link.
    for (const path of [changeDirectory(target, cwd), changeDirectory(`${target}/${name}`, cwd)]) {
      const source = changeDirectory(text, isRead ? changeDirectory("..", path) : cwd);
      if (source !== path && !isUnresolved(path)) put(path, source, isLink, made);
    }
  }
}

function put(path: string, source: string, isLink: boolean, made: MadePaths): void {
  if (isLink) {
    made.links.set(path, source);
    return;
  }
  if (!isUnresolved(source)) made.copies.set(path, source);
  const moved = made.links.get(source);
  if (moved !== undefined) made.links.set(path, moved);
}

/** What goes where; `ln` with one operand makes its link here. */
function transferOf(program: string, options: Options) {
  const [into] = valuesOf(options, "t", "target-directory");
  const operands = options.operands.map(({ text }) => text);
  if (into) return { sources: operands, target: into.text };
  if (program === "ln" && operands.length === 1) return { sources: operands, target: "." };
  return { sources: operands.slice(0, -1), target: operands.at(-1) ?? null };
}

/** So many links are followed one after the other; the kernel follows forty. */
const LINKS_MAX_COUNT = 8;

/**
 * Where a path leads if the links on its way are followed. The last part is followed where the program would do so, or
 * where a slash behind it says so; null where no link is on the way.
 */
export function followed(
  path: string,
  links: ReadonlyMap<string, string>,
  followsLast: boolean,
): string | null {
  let at = path;
  for (let count = 0; count < LINKS_MAX_COUNT; count++) {
    const next = throughLink(at, links, followsLast);
    if (next === null) return at === path ? null : at;
    if (next === UNKNOWN) return next;
    at = next;
  }
  return UNKNOWN;
}

function throughLink(path: string, links: ReadonlyMap<string, string>, followsLast: boolean): string | null {
  const parts = path.split("/").filter(Boolean);
  for (const [link, target] of links) {
    const head = link.split("/").filter(Boolean);
    if (head.length > parts.length - (followsLast ? 0 : 1) || !couldStartWith(parts, head)) continue;
    // A link of a directory to something inside itself would be followed for ever.
    if (`${target}/`.startsWith(`${link}/`)) continue;
    return target === UNKNOWN
      ? UNKNOWN
      : [target, ...parts.slice(head.length)].join("/").replace(/^\/+/, "/");
  }
  return null;
}
