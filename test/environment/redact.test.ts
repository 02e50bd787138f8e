import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, redact, secretSpans } from "../../src/environment/redact.ts";

const x = (n: number): string => "x1".repeat(Math.ceil(n / 2)).slice(0, n);
const pemLabel = ["PRIVATE", "KEY"].join(" ");
const header = `-----BEGIN RSA ${pemLabel}-----`;
const footer = `-----END RSA ${pemLabel}-----`;
const keyBody = Array.from({ length: 5 }, (_, i) => `${i}${"MIIEow".repeat(10)}`).join("\n");
const pem = `${header}\n${keyBody}\n${footer}`;

const tokens: readonly (readonly [label: string, token: string])[] = [
  ["github-token", `ghp_${x(36)}`],
  ["github-token", `ghs_${x(36)}`],
  ["github-token", `github_pat_${x(60)}`],
  ["gitlab-token", `glpat-${x(20)}`],
  ["aws-access-key", `AKIA${"Z".repeat(16)}`],
  ["aws-access-key", `ASIA${"Z".repeat(16)}`],
  ["google-api-key", `AIza${x(35)}`],
  ["api-key", `sk-${x(48)}`],
  ["api-key", `sk-ant-api03-${x(30)}-_${x(20)}`],
  ["stripe-key", `sk_live_${x(24)}`],
  ["slack-token", `xoxb-${x(12)}-${x(24)}`],
  ["slack-webhook", `https://hooks.slack.com/services/${x(9)}/${x(9)}/${x(24)}`],
  ["npm-token", `npm_${x(36)}`],
  ["pypi-token", `pypi-${x(60)}`],
  ["hugging-face-token", `hf_${x(34)}`],
  ["sendgrid-key", `SG.${x(22)}.${x(43)}`],
  ["jwt", `eyJ${x(20)}.eyJ${x(40)}.${x(43)}`],
  ["private-key", pem],
];

describe("well-known shapes", () => {
  test.each(tokens)("a %s is replaced, and the text around it is kept", (label, token) => {
    expect(redact(`before="${token}" after\n`)).toBe(`before="[redacted:${label}]" after\n`);
  });

  test("in a URL, only the password is replaced", () => {
    expect(redact("postgres://app:hunter22@db.local/x redis://:hunter22@r")).toBe(
      "postgres://app:[redacted:url-password]@db.local/x redis://:[redacted:url-password]@r",
    );
  });

  test.each([
    "https://example.com:8080/@scope/pkg",
    "git@github.com:owner/repo.git ssh://git@host:22/x",
    "postgres://user:$PASSWORD@host http://u:<password>@h",
    "task-abcdefghijklmnopqrstuvwxyz risk-assessment-of-everything-in-here",
    "sk-toggleable__content sk-estimator-doc-link",
    "eyJhbGciOi is cut, AKIA too, ghp_short",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "MAX_TOKENS=4096 npm_config_registry=https://packages.example.org/",
  ])("%j stays unchanged", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("a private key without a footer is replaced up to its last line", () => {
    expect(redact(`${header}\n${keyBody}\nand then some words\n`)).toBe(
      "[redacted:private-key]\nand then some words\n",
    );
  });

  test("a private key on one line with newlines written as \\n is replaced", () => {
    expect(redact(`K="${pem.replaceAll("\n", "\\n")}"`)).toBe('K="[redacted:private-key]"');
  });

  test("redacting redacted text does not change it", () => {
    const text = tokens.map(([, token]) => `a ${token} b https://u:${x(9)}@h`).join("\n");
    expect(redact(redact(text))).toBe(redact(text));
  });
});

describe("values of dropped variables", () => {
  const values = [
    { name: "DB_PASSWORD", value: "correct horse" },
    { name: "LONGER", value: "correct horse battery" },
    { name: "ODD", value: "a.*(b)+[c]$^" },
    { name: "SHORT", value: "1234567" },
  ];

  test("are replaced by their variables' names; if one value is a prefix of another, the longer one matches", () => {
    expect(redact("x correct horse battery, correct horse, a.*(b)+[c]$^ 1234567", { values })).toBe(
      "x [redacted:LONGER], [redacted:DB_PASSWORD], [redacted:ODD] 1234567",
    );
  });

  test("stay unchanged if redaction is off", () => {
    const redactor = createRedactor({ values, enabled: false });
    expect(redactor.push("correct horse") + redactor.end()).toBe("correct horse");
  });

  test("are found across chunks", () => {
    const redactor = createRedactor({ values });
    expect([
      redactor.push("a correct "),
      redactor.push("horse"),
      redactor.push("!\n"),
      redactor.end(),
    ]).toEqual(["a ", "", "[redacted:DB_PASSWORD]!\n", ""]);
  });
});

describe("a stream", () => {
  test("returns complete lines at once", () => {
    const redactor = createRedactor();
    expect(redactor.push("compiling\nlistening on 30")).toBe("compiling\nlistening on ");
    expect(redactor.push("00\n")).toBe("3000\n");
  });

  test("withholds a private key until its footer arrives, and continues right after the footer", () => {
    const redactor = createRedactor();
    expect(redactor.push(`a\n${header}\n`)).toBe("a\n");
    for (const line of keyBody.split("\n")) expect(redactor.push(`${line}\n`)).toBe("");
    expect(redactor.push(`${footer}\nb\n`)).toBe("[redacted:private-key]\nb\n");
  });

  test("continues if a possible private key turns out to be other text", () => {
    const redactor = createRedactor();
    expect(redactor.push(`grep for ${header} -- in `)).toBe("grep for ");
    expect(redactor.push(`${"some ".repeat(20)}\n`)).toContain("[redacted:private-key] -- in some some");
  });

  test("can be used again after end()", () => {
    const redactor = createRedactor();
    expect(redactor.push("ghp_") + redactor.end()).toBe("ghp_");
    expect(redactor.push(x(36)) + redactor.end()).toBe(x(36));
  });

  test("withholds only a bounded part of an endless word", () => {
    const redactor = createRedactor();
    let given = 0;
    for (let i = 0; i < 100; i++) given += redactor.push(x(1_000)).length;
    expect(given).toBeGreaterThan(50_000);
    expect(given + redactor.end().length).toBe(100_000);
  });

  const values = [
    { name: "MULTI", value: "first line\nsecond line" },
    { name: "REPEATS", value: "abababab abababac" },
    { name: "NESTED", value: "second line too" },
  ];
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...tokens.map(([, token]) => token)) },
    { weight: 2, arbitrary: fc.constantFrom(...tokens.map(([, token]) => token.slice(0, -12))) },
    { weight: 3, arbitrary: fc.constantFrom(...values.map(({ value }) => value)) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        header,
        footer,
        "-----",
        "--",
        "-----BEGIN ",
        "abab",
        "first line\n",
        "second ",
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(" ", "\n", "=", "/", "@", ":", "https://u:", "https://", x(25), "é😀"),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  );
  const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(""));

  test("gives the same result for every division into chunks", () => {
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (whole, sizes) => {
        const redactor = createRedactor({ values });
        let out = "";
        for (let at = 0, i = 0; at < whole.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          out += redactor.push(whole.slice(at, at + size));
          at += size;
        }
        expect(out + redactor.end()).toBe(redact(whole, { values }));
      }),
      { numRuns: 1_500 },
    );
  });

  test("gives the same result for every division into chunks, even for secrets longer than the withheld part", () => {
    const run = fc.constantFrom(
      x(9_000),
      `${x(15_000)} `,
      "\n",
      header,
      footer,
      "--",
      `.${pem}`,
      `:${tokens[0]?.[1]}:`,
    );
    fc.assert(
      fc.property(fc.array(run, { maxLength: 12 }), fc.integer({ min: 500, max: 30_000 }), (pieces, size) => {
        const whole = pieces.join("");
        const redactor = createRedactor({ values });
        let out = "";
        for (let at = 0; at < whole.length; at += size) out += redactor.push(whole.slice(at, at + size));
        expect(out + redactor.end()).toBe(redact(whole, { values }));
      }),
      { numRuns: 100 },
    );
  });

  test("text without secrets stays unchanged", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (chunks) => {
        const redactor = createRedactor();
        const out = chunks.map((chunk) => redactor.push(chunk)).join("") + redactor.end();
        expect(out).toBe(chunks.join(""));
      }),
    );
  });
});

describe("hostile text takes linear time", () => {
  test.each([
    ["headers without a footer", `${header}\n`],
    ["one endless word", "a"],
    ["prefixes of tokens", "eyJaaaaaaaa."],
    ["prefixes of tokens in one word", "eyJsk-ghp_"],
    ["prefixes of URLs", "http://a:"],
    ["dashes", "-"],
  ])("%s", (_, unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    const started = performance.now();
    redact(text);
    // A quadratic search would take minutes.
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  test("a private key that arrives byte by byte", () => {
    const redactor = createRedactor();
    const started = performance.now();
    redactor.push(header);
    for (let i = 0; i < 16_000; i++) redactor.push("A");
    expect(redactor.end().length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(60_000);
  });
});

test("secretSpans() returns the spans that redact() replaces", () => {
  const token = `ghp_${"a1B2".repeat(9)}`;
  const values = [{ name: "DB", value: "correct-horse-battery" }];
  const key = "-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----";
  for (const text of [
    "plain",
    `a ${token} b`,
    `x=${token}correct-horse-battery\n${key}\n`,
    `https://u:${token}@h/`,
  ]) {
    let replaced = "";
    let at = 0;
    for (const { at: start, end, mark } of secretSpans(text, { values })) {
      replaced += text.slice(at, start) + mark;
      at = end;
    }
    expect(replaced + text.slice(at)).toBe(redact(text, { values }));
  }
});
