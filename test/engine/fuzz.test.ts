// Random messages between a host and its keeper: neither side crashes or hangs.
// No random message is a slot request: the keeper would start a shell in the directory that the request
// names, and remove that directory when the shell exits.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFields, parseAnswer } from "../../src/engine/protocol.ts";
import { useBareKeepers } from "../fixtures/bare-keeper.ts";
import { FUZZ_MAX_MS, FUZZ_RUNS } from "../fixtures/fuzz.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const bareKeeper = useBareKeepers(directory);
const timeout = FUZZ_MAX_MS;

const KINDS = ["hello", "fatal", "ready", "fifo", "logging", "no", "gone", "failed", "exit"];

test("no line from a keeper makes its host throw, and only a complete exit line counts as an exit", {
  timeout,
}, () => {
  const word = fc.oneof(
    fc.constantFrom(...KINDS, "0", "7", "255", "256", "-", "c", "cflu", "1.00", "1.0", "", "NaN", "-1"),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  const line = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.tuple(fc.constantFrom(...KINDS), fc.array(word)).map(([kind, words]) => [kind, ...words].join(" ")),
  );
  fc.assert(
    fc.property(line, (text) => {
      const answer = parseAnswer(text);
      if (answer.kind === "unknown") return answer.line === text;
      if (answer.kind !== "exit") return text.split(" ")[0] === answer.kind;
      return /^exit \S* \d{1,3} (-|[cflu]+) \d+ \d+ \d+\.\d\d$/.test(text) && answer.record.code <= 255;
    }),
    { numRuns: FUZZ_RUNS },
  );
});

test("a keeper reads any values, in pieces of any size, and answers in order", { timeout }, async () => {
  const { child, line } = await bareKeeper();
  const value = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom("", "\n", "$(exit 1)", "`exit 1`", "'", '"', "\\", "slot", "env", "é", "\u{1f41a}"),
  );
  const request = fc.record({
    values: fc.array(
      value.map((text) => text.replaceAll("\0", "")),
      { maxLength: 6 },
    ),
    cut: fc.nat(),
  });
  let number = 0;
  const samples = fc.sample(request, FUZZ_RUNS);
  // Wait for an answer after every 50 requests, because bash reads its requests byte by byte.
  for (let from = 0; from < samples.length; from += 50) {
    const round = samples.slice(from, from + 50);
    for (const { values, cut } of round) {
      const bytes = Buffer.from(
        encodeFields(["env", "base", String(values.length), ...values.map((text) => `V=${text}`)]),
      );
      const at = cut % bytes.length;
      child.stdin.write(bytes.subarray(0, at));
      child.stdin.write(bytes.subarray(at));
    }
    const name = `n${number++}`;
    // The fifo's directory does not exist, so the keeper answers "no".
    child.stdin.write(encodeFields(["log", name, "missing/fifo", "/dev/null", "1"]));
    expect(parseAnswer((await line()) ?? "")).toEqual({ kind: "no", name });
  }
  child.stdin.end();
  await once(child, "exit");
  expect([await line(), await line()]).toEqual(["gone", undefined]);
});

test("a keeper that reads an invalid request reports it, cleans up and exits", { timeout }, async () => {
  // The first word is unknown, so the keeper does not read the rest as a request.
  const nonsense = fc.sample(
    fc.tuple(
      fc.string({ unit: "binary", maxLength: 60 }).map((text) => `?${text.replaceAll("\0", "")}`),
      fc.boolean(),
    ),
    Math.max(10, FUZZ_RUNS / 200),
  );
  const sendNonsense = async ([text, isComplete]: (typeof nonsense)[number]) => {
    const { dir, child, line } = await bareKeeper();
    const exited = once(child, "exit");
    if (isComplete) child.stdin.write(encodeFields([text]));
    // A word without its final NUL is not a request: to the keeper, its host died while writing.
    else child.stdin.end(text);
    await exited;
    const answers = [];
    for (let next = await line(); next !== undefined; next = await line()) answers.push(next);
    expect(answers.at(-1)).toBe("gone");
    expect(answers[0]?.startsWith("error protocol ?") ?? false).toBe(isComplete);
    expect(existsSync(join(dir, "keeper"))).toBe(false);
  };
  // Run five keepers at a time, to save time.
  for (let next = 0; next < nonsense.length; next += 5)
    await Promise.all(nonsense.slice(next, next + 5).map(sendNonsense));
});
