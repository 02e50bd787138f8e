// Finds the hook directories and included files that a git configuration names. nacre parses the configuration itself,
// because git would run programs that the configuration names.
import { dirname, join, resolve } from "node:path";
import { GIT_INCLUDES_MAX_DEPTH } from "../support/limits.ts";
import { textIn } from "./git-file.ts";

export interface ConfigTarget {
  /** Absolute; links are not resolved. */
  readonly path: string;
  readonly kind: "directory" | "file";
  /** The key that names the path. */
  readonly key: "core.hooksPath" | "include.path";
}

export interface ConfigReading {
  /** The base of relative hook directories: the top of a working tree, or the git directory of a bare repository. */
  readonly top: string;
  readonly home: string | undefined;
}

/** The paths that one file and its included files name. Treats conditional includes as included. */
export function configTargets(file: string, reading: ConfigReading, depth = 0): ConfigTarget[] {
  if (depth > GIT_INCLUDES_MAX_DEPTH) return [];
  return settingsIn(textIn(file)).flatMap(({ section, key, value }): ConfigTarget[] => {
    if (section === "core" && key === "hookspath") {
      const path = absolute(value, reading.top, reading.home);
      return path === undefined ? [] : [{ path, kind: "directory", key: "core.hooksPath" }];
    }
    if ((section !== "include" && section !== "includeif") || key !== "path") return [];
    const path = absolute(value, dirname(file), reading.home);
    if (path === undefined) return [];
    return [{ path, kind: "file", key: "include.path" }, ...configTargets(path, reading, depth + 1)];
  });
}

/** All possible configuration files of the user and the machine. */
export function globalConfigs(
  homes: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string[] {
  const named = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].flatMap((name) => environment[name] ?? []);
  const xdg = environment["XDG_CONFIG_HOME"];
  return [
    "/etc/gitconfig",
    ...homes.flatMap((home) => [join(home, ".gitconfig"), join(home, ".config/git/config")]),
    ...(xdg === undefined ? [] : [join(xdg, "git/config")]),
    ...named.filter((path) => path.startsWith("/")),
  ];
}

function absolute(value: string, from: string, home: string | undefined): string | undefined {
  if (value === "") return undefined;
  if (value.startsWith("~/")) return home === undefined ? undefined : join(home, value.slice(2));
  return resolve(from, value);
}

interface Setting {
  /** In lower case, without a subsection. */
  readonly section: string;
  readonly key: string;
  readonly value: string;
}

const SECTION = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/;
const KEY = /^\s*([a-z][\w-]*)\s*=\s*(.*)$/i;

/** Ignores lines that git would reject. */
function settingsIn(text: string): Setting[] {
  const settings: Setting[] = [];
  let section = "";
  for (const line of text.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const head = SECTION.exec(line);
    if (head) section = (head[1] ?? "").toLowerCase();
    const [, key, value = ""] = KEY.exec(head ? line.slice(head[0].length) : line) ?? [];
    if (key !== undefined) settings.push({ section, key: key.toLowerCase(), value: unquoted(value) });
  }
  return settings;
}

/** Removes quotes, escapes and a trailing comment. */
function unquoted(text: string): string {
  let value = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "\\") value += text[++at] ?? "";
    else if (!isQuoted && (char === "#" || char === ";")) break;
    else value += char;
  }
  return value.trimEnd();
}
