import { describe, expect, test } from "vitest";
import { createRedactor, redact } from "../../src/environment/redact.ts";

const QUOTED = `pa"ss\\wo/rd é1`;
const SHELL = `it's $ecret; a&b<c>`;
const LINES = ["line-one-0123456789abcdef", "line-two-0123456789abcdef", "line-three-0123456789abcdef"].join(
  "\n",
);
const PERCENT = "p@ss:w/rd+x y%z";
const values = [
  { name: "QUOTED", value: QUOTED },
  { name: "SHELL", value: SHELL },
  { name: "LINES", value: LINES },
  { name: "PERCENT", value: PERCENT },
  { name: "PLAIN", value: "hush-hush-4711-abcdef" },
  { name: "LEFT", value: "overlap-left-middle" },
  { name: "RIGHT", value: "middle-right-overlap" },
  { name: "REGEX", value: "a.*(b)+[c]$^|d?" },
  { name: "ASTRAL", value: "key-😀-key-0815" },
  { name: "SHORT", value: "cat-dog" },
];

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const lowerHex = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
const escapeAll = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
const percentAll = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const octal = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Each entry consists of the spelling of the value, the text, and the redacted text. */
const spelled: readonly (readonly [title: string, text: string, expected: string])[] = [
  ["unchanged", `x=${QUOTED}.`, "x=[redacted:QUOTED]."],
  ["in JSON", `{"p":${JSON.stringify(QUOTED)}}`, '{"p":"[redacted:QUOTED]"}'],
  ["in JSON with escaped slashes", `"${json(QUOTED).replace("/", "\\/")}"`, '"[redacted:QUOTED]"'],
  ["in ASCII JSON", `"${json(QUOTED).replace("é", "\\u00e9")}"`, '"[redacted:QUOTED]"'],
  ["in ASCII JSON with capital digits", `"${json(QUOTED).replace("é", "\\u00E9")}"`, '"[redacted:QUOTED]"'],
  ["in JSON in JSON", JSON.stringify(JSON.stringify({ p: QUOTED })), '"{\\"p\\":\\"[redacted:QUOTED]\\"}"'],
  ["in JSON three levels deep", json(json(json(QUOTED))), "[redacted:QUOTED]"],
  ["with every character as \\u", `<${escapeAll(QUOTED)}>`, "<[redacted:QUOTED]>"],
  [
    "with HTML characters as \\u in JSON",
    `"${SHELL.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003E")}"`,
    '"[redacted:SHELL]"',
  ],
  ["after an escaped newline in JSON", `"a\\n${json(QUOTED)}\\nb"`, '"a\\n[redacted:QUOTED]\\nb"'],
  ["as two surrogates in JSON", '"key-\\ud83d\\uDE00-key-0815"', '"[redacted:ASTRAL]"'],
  ["as a code point escape", "'key-\\u{1f600}-key-0815'", "'[redacted:ASTRAL]'"],
  ["as Python repr", `'pa"ss\\\\wo/rd \\xe91'`, "'[redacted:QUOTED]'"],
  ["as Python bytes", `b'pa"ss\\\\wo/rd \\xc3\\xa91'`, "b'[redacted:QUOTED]'"],
  ["percent-encoded", `?p=${encodeURIComponent(PERCENT)}&x`, "?p=[redacted:PERCENT]&x"],
  [
    "percent-encoded in lower case",
    `?p=${lowerHex(encodeURIComponent(PERCENT))}&x`,
    "?p=[redacted:PERCENT]&x",
  ],
  ["partly percent-encoded", "?p=p%40ss:w/rd+x%20y%25z&x", "?p=[redacted:PERCENT]&x"],
  ["as a form field", "p=p%40ss%3Aw%2Frd%2Bx+y%25z&x", "p=[redacted:PERCENT]&x"],
  ["percent-encoded twice", encodeURIComponent(encodeURIComponent(PERCENT)), "[redacted:PERCENT]"],
  ["completely percent-encoded", percentAll(QUOTED), "[redacted:QUOTED]"],
  ["percent-encoded non-ASCII characters", encodeURIComponent("key-😀-key-0815"), "[redacted:ASTRAL]"],
  [
    "percent-encoded in JSON",
    JSON.stringify({ u: `http://h/?p=${encodeURIComponent(PERCENT)}` }),
    '{"u":"http://h/?p=[redacted:PERCENT]"}',
  ],
  ["in single quotes of a shell", "+ echo 'it'\\''s $ecret; a&b<c>'", "+ echo '[redacted:SHELL]'"],
  ["in quotes of shlex", `'it'"'"'s $ecret; a&b<c>'`, "'[redacted:SHELL]'"],
  ["as printf %q", "it\\'s\\ \\$ecret\\;\\ a\\&b\\<c\\>", "[redacted:SHELL]"],
  ["as declare -p", 'declare -x S="it\'s \\$ecret; a&b<c>"', 'declare -x S="[redacted:SHELL]"'],
  ["as declare -p with quotes", 'declare -x S="pa\\"ss\\\\wo/rd é1"', 'declare -x S="[redacted:QUOTED]"'],
  ["in $'…'", "$'it\\'s $ecret; a&b<c>'", "$'[redacted:SHELL]'"],
  ["in $'…' as octal bytes", "$'pa\"ss\\\\wo/rd \\303\\2511'", "$'[redacted:QUOTED]'"],
  ["completely as octal bytes", octal(QUOTED), "[redacted:QUOTED]"],
  ["in HTML", "<p>it&#39;s $ecret; a&amp;b&lt;c&gt;</p>", "<p>[redacted:SHELL]</p>"],
  ["in HTML with hexadecimal entities", "it&#x27;s $ecret; a&#x26;b&#x3C;c&#x3e;", "[redacted:SHELL]"],
  ["in XML", "it&apos;s $ecret; a&amp;b&lt;c&gt;", "[redacted:SHELL]"],
  ["in CSV", `"pa""ss\\wo/rd é1"`, '"[redacted:QUOTED]"'],
  ["in YAML single quotes", "'it''s $ecret; a&b<c>'", "'[redacted:SHELL]'"],
  ["in base64", base64("hush-hush-4711-abcdef"), "[redacted:PLAIN]"],
  ["in base64 after one more byte", `${base64(":hush-hush-4711-abcdef")}`, "Om[redacted:PLAIN]g=="],
  ["in base64 of user and password", `x ${base64("me:hush-hush-4711-abcdef")}`, "x bWU6[redacted:PLAIN]"],
  ["with several lines", `<${LINES}>`, "<[redacted:LINES]>"],
  ["with several lines, indented", LINES.replaceAll("\n", "\n    "), "[redacted:LINES]"],
  ["with several lines and CRLF", LINES.replaceAll("\n", "\r\n"), "[redacted:LINES]"],
  ["with several lines in JSON", JSON.stringify(LINES), '"[redacted:LINES]"'],
  ["with several lines in JSON in JSON", json(JSON.stringify(LINES)), '\\"[redacted:LINES]\\"'],
  ["with several lines in $'…'", `$'${LINES.replaceAll("\n", "\\n")}'`, "$'[redacted:LINES]'"],
  ["with several lines joined by spaces", LINES.replaceAll("\n", " "), "[redacted:LINES]"],
  ["with several lines without separators", LINES.replaceAll("\n", ""), "[redacted:LINES]"],
  ["line by line", LINES.replace(/^/gm, "> "), "> [redacted:LINES]\n> [redacted:LINES]\n> [redacted:LINES]"],
  ["by one of its lines", "2: line-two-0123456789abcdef", "2: [redacted:LINES]"],
  ["folded", LINES.replaceAll("\n", "").replace(/.{20}/g, "$&\n"), "[redacted:LINES]"],
  ["folded with continuation", "hush-hush-47\\\n  11-abcdef", "[redacted:PLAIN]"],
  ["overlapping with another value", "overlap-left-middle-right-overlap.", "[redacted:LEFT]."],
  ["with regex characters", "a.*(b)+[c]$^|d? aaa(b)", "[redacted:REGEX] aaa(b)"],
  ["with escaped regex characters", "a.\\*\\(b\\)+\\[c\\]\\$\\^\\|d\\?", "[redacted:REGEX]"],
];

const keys = "A1b2C3d4".repeat(6);
const redacted: readonly (readonly [title: string, text: string, expected: string])[] = [
  ["a URL's password", "https://user:pass@host/x", "https://user:[redacted:url-password]@host/x"],
  ["an encoded password", "postgres://u:p%40ss@h/db", "postgres://u:[redacted:url-password]@h/db"],
  ["a password without a user", "redis://:hunter22@r:6379", "redis://:[redacted:url-password]@r:6379"],
  ["a password with an @", "https://u:p@ss@host/x", "https://u:[redacted:url-password]@host/x"],
  [
    "a password before an IPv4 host",
    "https://u:pw@10.0.0.1/x",
    "https://u:[redacted:url-password]@10.0.0.1/x",
  ],
  [
    "a password before an IPv6 host",
    "https://u:pw@[::1]:80/x",
    "https://u:[redacted:url-password]@[::1]:80/x",
  ],
  ["a password of digits", "https://u:12345@host", "https://u:[redacted:url-password]@host"],
  [
    "a password before a host named like a hash",
    "https://u:pw@sha256.example.org",
    "https://u:[redacted:url-password]@sha256.example.org",
  ],
  [
    "a URL with escaped slashes",
    '"https:\\/\\/u:pw1@h\\/x"',
    '"https:\\/\\/u:[redacted:url-password]@h\\/x"',
  ],
  [
    "a basic header",
    "Authorization: Basic dXNlcjpwYXNz\n",
    "Authorization: Basic [redacted:authorization]\n",
  ],
  [
    "a bearer header",
    `> authorization: Bearer ${keys}\n`,
    "> authorization: Bearer [redacted:authorization]\n",
  ],
  [
    "a bearer header in JSON",
    `{"Authorization":"Bearer ${keys}"}`,
    '{"Authorization":"Bearer [redacted:authorization]"}',
  ],
  ["a token after an escaped newline", `"a\\nghp_${keys}"`, '"a\\n[redacted:github-token]"'],
  ["a token after an encoded equals sign", `a%3Dghp_${keys}`, "a%3D[redacted:github-token]"],
  ["a GitLab deploy token", `gldt-${keys}`, "[redacted:gitlab-token]"],
  ["a Slack app token", `xapp-1-${keys}`, "[redacted:slack-token]"],
];

const kept: readonly string[] = [
  `registry/app:1.2@sha256:${"0a".repeat(32)}`,
  "scheme://a:1.2@sha256",
  `docker-image://app:latest@sha256:${"0a".repeat(32)}`,
  `docker://host:5000/app:1.2@sha256:${"0a".repeat(32)}`,
  `oci://app:1.2@sha512:${"0a".repeat(64)}`,
  "npm:foo@1.2 npm:@scope/foo@^1.2.3",
  "pnpm://foo:bar@1.2.3 pnpm://foo/bar@1.2",
  "ssh://git@host git@host:path ssh://git@host:22/a@b",
  "me@example.org <you@example.org>",
  "http://[::1]:8080/ [fe80::1]:22 http://[::1]:8080?x=a@b",
  "10:20:30 2026-01-02T03:04:05Z@x",
  "http://host:8080/@scope/pkg http://host:8080/path@v1",
  "http://host:8080?mail=a@b.c http://host:80#a@b",
  '{"url":"http://example.org","email":"a@b.c"}',
  '{"url":"http://example.org:80","email":"a@b.c"}',
  "{'url':'http://example.org','email':'a@b.c'}",
  "123e4567-e89b-12d3-a456-426614174000 3f786850e387550fdab836ed7e6dc881de23001b",
  `sha512-${base64(keys)} integrity sha1-${base64("x".repeat(20))}`,
  "Authorization: Bearer $TOKEN Authorization: Bearer <token> Authorization: Bearer YOUR_ACCESS_TOKEN",
  "Basic authentication is required, bearer of bad news",
  "a cat-dog is no secret: too short",
  "100% of a & b; it's 'ok' \\ \\n %20 &amp; \\u0041",
];

describe("a value is redacted", () => {
  test.each(spelled)("%s", (_, text, expected) => {
    expect(redact(text, { values })).toBe(expected);
  });

  test.each(spelled)("%s, even if the text arrives character by character", (_, text, expected) => {
    const redactor = createRedactor({ values });
    let out = "";
    for (let at = 0; at < text.length; at++) out += redactor.push(text.charAt(at));
    expect(out + redactor.end()).toBe(expected);
  });
});

test.each(redacted)("%s is redacted", (_, text, expected) => {
  expect(redact(text, { values })).toBe(expected);
  const redactor = createRedactor({ values });
  expect([...text].map((char) => redactor.push(char)).join("") + redactor.end()).toBe(expected);
});

test.each(kept)("%j is not changed", (text) => {
  expect(redact(text, { values })).toBe(text);
});

test("a complete line is returned at once, even if its last characters could begin a value", () => {
  const redactor = createRedactor({ values });
  expect(redactor.push("100% of it's a\n")).toBe("100% of it's a\n");
});

test.each([
  "\\",
  "%",
  "a:b@",
  "%25",
  "\\n",
  "'",
  '"',
  "&#",
  "x://a:b@",
  "hush-hush-4711-abcde",
  "p%40",
  "\n",
  "Authorization: Bearer ",
])("a megabyte of %j takes linear time", (unit) => {
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
  const started = performance.now();
  redact(text, { values });
  // A quadratic search would take minutes.
  expect(performance.now() - started).toBeLessThan(60_000);
});

test("a megabyte of overlapping values takes linear time", () => {
  const chain = [{ name: "CHAIN", value: "x-chain-4711-x" }];
  const started = performance.now();
  expect(redact(`a ${"x-chain-4711-".repeat(80_000)}x`, { values: chain })).toBe("a [redacted:CHAIN]");
  expect(performance.now() - started).toBeLessThan(60_000);
});
