// The shape of a file of rules, defined once: nacre reads files by it and generates the JSON schema for editors from it
// (`npm run fix` writes policy-rules.schema.json).

import { z } from "zod";
import { PATH_CLASSES } from "./paths/path-class.ts";
import { EFFECT_KINDS } from "./programs/effect-kind.ts";
import { RULES } from "./rules.ts";

const text = z.string({ error: "must be a text" });
const TEXTS = "must be a text or an array of texts";
const NO_EXAMPLE = "must hold at least one command the rule is about";
const texts = z.union([text, z.array(text)], { error: TEXTS });
const ids = RULES.map(({ id }) => id);

/** One of the words, or a list of them. */
function wordsOf<T extends string>(words: readonly T[], title: string) {
  const error = ({ input }: { readonly input?: unknown }) => {
    const unknown = [input].flat().filter((word) => !words.some((known) => known === word));
    return `does not know ${unknown.map((word) => JSON.stringify(word)).join(", ")}`;
  };
  return z
    .union([z.enum(words), z.array(z.enum(words))], { error })
    .optional()
    .describe(title);
}

/** An object with these keys and no others. */
function exactly<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has a key that is not known: ${issue.keys?.join(", ")}; known are ${Object.keys(shape).join(", ")}`
        : "must be an object",
  });
}

const RULE = exactly({
  id: text
    .min(1, { error: "must not be empty" })
    .describe("A name of its own; the ids of built-in rules are taken."),
  verdict: z.enum(["allow", "ask", "deny"], { error: "must be allow, ask or deny" }),
  program: texts.optional().describe("Program names without a directory; * stands for anything."),
  args: texts.optional().describe("Patterns with *; each must fit some argument."),
  without: texts.optional().describe("Patterns with *; none may fit any argument."),
  effects: wordsOf(EFFECT_KINDS, "What the command does to a path."),
  paths: wordsOf(PATH_CLASSES, "Which kind of place it does that to."),
  lifts: wordsOf(ids, "For allow: the built-in rules it lifts. A deny is lifted only by its id."),
  reason: text.optional().describe("One sentence that is shown with the verdict."),
  alternative: text.optional().describe("What to do instead."),
  matches: z
    .union([text, z.array(text).min(1, { error: NO_EXAMPLE })], { error: NO_EXAMPLE })
    .describe("Commands it is about, tried when the file is read."),
  misses: texts.optional().describe("Commands it is not about, tried when the file is read."),
}).meta({ anyOf: ["program", "args", "effects", "paths"].map((key) => ({ required: [key] })) });

export type WrittenRule = z.input<typeof RULE>;

export const RULE_FILE = exactly({
  $schema: text.optional(),
  version: z.literal(1, { error: "must be 1" }),
  rules: z.array(RULE, { error: "must be an array of rules" }),
}).meta({ title: "nacre policy rules" });

/** For editors, and for tools that check a file before nacre does. */
export const RULES_SCHEMA = z.toJSONSchema(RULE_FILE, { io: "input" });
