// Evaluates constants in code of languages other than bash: the home directory, joined strings, decoded strings, and
// names that are built from strings. It uses regular expressions and does not parse the languages.

import { POLICY_CODE_FOLDED_MAX_CHARS, POLICY_CODE_FOLDS_MAX_COUNT } from "../../../support/limits.ts";

/** The code with its constants evaluated, followed by the strings that it passes to eval and similar functions. */
export function foldedCode(code: string, home: string): string {
  if (code.length > POLICY_CODE_FOLDED_MAX_CHARS) return withHome(code, home);
  const folded = folds(withHome(code, home));
  const evaluated = [...folded.matchAll(EVALUATED)].map(([, text = ""]) => unquoted(text));
  return evaluated.length === 0 ? folded : [folded, ...evaluated.map(folds)].join("\n");
}

function folds(code: string): string {
  let folded = code;
  for (let i = 0; i < POLICY_CODE_FOLDS_MAX_COUNT; i++) {
    const before = folded;
    folded = withNames(withJoined(withDecoded(folded)));
    if (folded === before) break;
  }
  return folded;
}

const EVALUATED =
  /\b(?:exec|eval|Function|loadstring|load|instance_eval|assert)\(\s*("(?:[^"\\]|\\.){1,4000}")/g;

/** Expressions for the home directory, in many languages. */
const HOME =
  /(?:(?:pathlib\.)?Path\.home|(?:os|require\(['"](?:node:)?os['"]\))\.homedir|\bhomedir|System\.user_home!?|Dir\.home|os\.UserHomeDir)\(\)|process\.env\.HOME|vim\.env\.HOME|(?:Deno|Bun)\.env\.(?:HOME\b|get\(\s*["']HOME["']\s*\))|Dir\.home|\$ENV\{["']?HOME["']?\}|\$env\(HOME\)|\$env:(?:HOME|USERPROFILE)|%\*ENV<HOME>|\$\*HOME|(?:os\.environ|ENV|process\.env|\$_ENV|\$_SERVER|System\.env)\s*\[\s*["']HOME["']\s*\]|(?:os\.environ\.get|(?:os\.)?[gG]et_?[eE]nv|System\.getenv|Sys\.getenv|System\.get_env|os:getenv|ENV\.fetch|(?:getenv|Sys\.getenv|System\.get_env)!?)\s*\(?\s*["']HOME["']\s*\)?|System\.getProperty\(\s*["']user\.home["']\s*\)|\bexpand\(\s*["'](?:~|\$HOME)["']\s*\)|\$env\.HOME\b|\(getenv\s+"HOME"\)|\(user-homedir-pathname\)/g;

/** Replaces expressions for the home directory with its path. */
function withHome(code: string, home: string): string {
  if (!/home|HOME|expanduser|expand_path|~/i.test(code)) return code;
  const literal = JSON.stringify(home);
  return code
    .replace(
      /[#$]\{(?:Dir\.home|process\.env\.HOME|os\.homedir\(\)|ENV\[["']HOME["']\])\}|(?<=["'`][^"'`\n]{0,200}[ /])\$(?:ENV\{HOME\}|HOME\b|env\(HOME\))/g,
      home,
    )
    .replace(
      /(?:os\.path\.expanduser|expanduser|File\.expand_path|path\.expand|Path\.expand)\(\s*(["'])~([^"']{0,200})\1\s*\)/g,
      (_all, _quote, rest: string) => JSON.stringify(home + rest),
    )
    .replace(HOME, () => literal)
    .replace(/\$\((?:HOME)\)|\$\{HOME\}|\$HOME\b/g, () => home)
    .replace(/(["'])~(\/[^"']{0,200})?\1/g, (_all, _quote, rest = "") => JSON.stringify(home + rest))
    .replace(/(?<=["'\s])~(?=\/)/g, () => home);
}

const STRING = String.raw`(?:"([^"\\\n]{0,400})"|'([^'\\\n]{0,400})')`;
const JOINED = new RegExp(String.raw`${STRING}\s*(?:\+\+?|\.\.?|<>|~|&)\s*${STRING}`, "g");
const LIST_JOINED =
  /\[((?:\s*(?:"[^"\\\n]{0,80}"|'[^'\\\n]{0,80}')\s*,?){1,24})\]\s*\.\s*join\(\s*(["'])([^"'\n]{0,4})\2\s*\)/g;
const JOINED_LIST =
  /(["'])([^"'\n]{0,4})\1\s*\.\s*join\(\s*\[((?:\s*(?:"[^"\\\n]{0,80}"|'[^'\\\n]{0,80}')\s*,?){1,24})\]\s*\)/g;
const PATH_JOINED =
  /\b(?:os\.)?path\.join\(\s*((?:(?:"[^"\\\n]{0,200}"|'[^'\\\n]{0,200}')\s*,?\s*){2,8})\)|\b(?:File|Path)\.join\(\s*((?:(?:"[^"\\\n]{0,200}"|'[^'\\\n]{0,200}')\s*,?\s*){2,8})\)/g;

/** Replaces string concatenations and join calls with the resulting string. */
function withJoined(code: string): string {
  if (!/["']/.test(code)) return code;
  const items = (list: string) => [...list.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, a, b]) => a ?? b ?? "");
  return code
    .replace(
      /("(?:[^"\\\n]{1,300})")\)?\s*\.joinpath\(\s*["']([^"'\n]{1,200})["']\s*\)/g,
      (_all, base, name) => JSON.stringify(`${JSON.parse(base)}/${name}`),
    )
    .replace(JOINED, (_all, a, b, c, d) => JSON.stringify(`${a ?? b ?? ""}${c ?? d ?? ""}`))
    .replace(LIST_JOINED, (_all, list, _quote, by) => JSON.stringify(items(list).join(by)))
    .replace(JOINED_LIST, (_all, _quote, by, list) => JSON.stringify(items(list).join(by)))
    .replace(PATH_JOINED, (_all, one, other) => JSON.stringify(items(one ?? other ?? "").join("/")))
    .replace(
      /\bPath\(\s*(?:"([^"\\\n]{1,300})"|'([^'\\\n]{1,300})')\s*\)\s*\/\s*(?:"([^"\\\n]{1,300})"|'([^'\\\n]{1,300})')/g,
      (_all, a, b, c, d) => `Path(${JSON.stringify(`${a ?? b}/${c ?? d}`)})`,
    )
    .replace(/"([^"\\\n]{1,300})"\s*\/\s*(?:"([^"\\\n]{1,300})"|'([^'\\\n]{1,300})')/g, (_all, a, b, c) =>
      JSON.stringify(`${a}/${b ?? c}`),
    );
}

const BASE64 =
  /\b(?:base64\.)?(?:(?:urlsafe_|standard_)?b64decode|base64_decode|decode64|Base64\.decode(?:64)?!?|atob|MIME::Base64::decode)\(\s*b?(?:"([\w+/=-]{4,4000})"|'([\w+/=-]{4,4000})')\s*\)(?:\.decode\(\s*(?:["'][\w-]+["'])?\s*\))?/g;
const BUFFER =
  /\bBuffer\.from\(\s*(?:"([\w+/=-]{4,4000})"|'([\w+/=-]{4,4000})')\s*,\s*["'](base64|hex)["']\s*\)(?:\.toString\(\s*(?:["'][\w-]+["'])?\s*\))?/g;
const HEX =
  /\b(?:pack\(?\s*["']H\*["']\s*,\s*|bytes\.fromhex\(\s*|bytearray\.fromhex\(\s*|hex2bin\(\s*)(?:"([\da-fA-F]{2,4000})"|'([\da-fA-F]{2,4000})')\s*\)?(?:\.decode\(\s*(?:["'][\w-]+["'])?\s*\))?/g;

/**
 * Replaces each call that decodes a base64 or hex literal, and each data: URL of a JavaScript module, with the decoded
 * text.
 */
function withDecoded(code: string): string {
  if (!/64|hex|H\*|atob|from|data:/.test(code)) return code;
  const decoded = (text: string, kind: "base64" | "hex") =>
    JSON.stringify(Buffer.from(text, kind).toString("utf8"));
  return code
    .replace(/__import__\(\s*["'](\w+)["']\s*\)/g, "$1")
    .replace(BASE64, (_all, a, b) => decoded(a ?? b ?? "", "base64"))
    .replace(BUFFER, (_all, a, b, kind) => decoded(a ?? b ?? "", kind))
    .replace(HEX, (_all, a, b) => decoded(a ?? b ?? "", "hex"))
    .replace(MODULE_URL, (_all, _quote, isBase64, text) =>
      isBase64 ? Buffer.from(text, "base64").toString("utf8") : percentDecoded(text),
    );
}

/** A data: URL that contains the source of a JavaScript module. */
const MODULE_URL =
  /(["'`])data:(?:text|application)\/javascript(?:;charset=[\w-]{1,20})?(;base64)?,([^"'`\n]{1,4000})\1/g;

function percentDecoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/**
 * Replaces calls through strings with ordinary calls: `getattr(os, "system")(…)`, `fs["rmSync"](…)`,
 * `x.send("rm_rf", …)`, PHP's `$f(…)`.
 */
function withNames(code: string): string {
  let named = code
    .replace(/__import__\(\s*["'](\w+)["']\s*\)/g, "$1")
    .replace(/\)\s*\.args?\(\s*(?=["'&[]|vec!)/g, ",")
    .replace(/\bgetattr\(\s*([\w.]+)\s*,\s*["'](\w+)["']\s*\)/g, "$1.$2")
    .replace(/\[\s*["']([A-Za-z_]\w*)["']\s*\](?=\s*\()/g, ".$1")
    .replace(/\.(?:public_)?send\(\s*(?::|["'])(\w+)["']?\s*,?/g, ".$1(");
  for (const [, name = "", text = ""] of [...code.matchAll(/(\$\w{1,40})\s*=\s*["'](\w{2,40})["']/g)].slice(
    0,
    8,
  ))
    named = named.replaceAll(`${name}(`, `${text}(`);
  return named;
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return "";
  }
}
