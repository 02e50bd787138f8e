// The shape of a rule file. nacre checks files against it, and `npm run fix` generates the JSON schema for editors from
// it (policy-rules.schema.json).

import { z } from "zod";
import { PATH_CLASSES } from "./paths/path-class.ts";
import { EFFECT_KINDS } from "./programs/effect-kind.ts";
import { RULES } from "./rules.ts";

const text = z.string({ error: "must be a string" });

/** One of the given words, or a list of them. */
function oneOrMoreOf<T extends string>(words: readonly T[], title: string) {
  const error = ({ input }: { readonly input?: unknown }) => {
    const unknown = [input].flat().filter((word) => !words.some((known) => known === word));
    return `has an unknown value: ${unknown.map((word) => JSON.stringify(word)).join(", ")}`;
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
        ? `has an unknown key: ${issue.keys?.join(", ")}; the known keys are ${Object.keys(shape).join(", ")}`
        : "must be an object",
  });
}

/** Builds the schema only when it is needed: this takes a millisecond, and most starts read no rule file. */
function ruleSchema() {
  const TEXTS = "must be a string or an array of strings";
  const NO_EXAMPLE = "must contain at least one command that the rule matches";
  const texts = z.union([text, z.array(text)], { error: TEXTS });
  const ids = RULES.map(({ id }) => id);
  return exactly({
    id: text
      .min(1, { error: "must not be empty" })
      .describe("A unique name, different from the ids of built-in rules."),
    verdict: z.enum(["allow", "ask", "deny"], { error: "must be allow, ask or deny" }),
    program: texts.optional().describe("Program names without a directory; * matches anything."),
    args: texts.optional().describe("Patterns with *; each must match an argument."),
    without: texts.optional().describe("Patterns with *; none may match an argument."),
    effects: oneOrMoreOf(EFFECT_KINDS, "The effects of the command on paths."),
    paths: oneOrMoreOf(PATH_CLASSES, "The classes of the affected paths."),
    lifts: oneOrMoreOf(
      ids,
      "For allow: the built-in rules to lift. Without this list, the rule lifts every ask about the commands it matches, but no deny.",
    ),
    reason: text.optional().describe("One sentence for the message of the verdict."),
    alternative: text.optional().describe("What to do instead."),
    matches: z
      .union([text, z.array(text).min(1, { error: NO_EXAMPLE })], { error: NO_EXAMPLE })
      .describe("Commands that the rule must match; nacre checks them when it reads the file."),
    misses: texts
      .optional()
      .describe("Commands that the rule must not match; nacre checks them when it reads the file."),
  }).meta({ anyOf: ["program", "args", "effects", "paths"].map((key) => ({ required: [key] })) });
}

export type WrittenRule = z.input<ReturnType<typeof ruleSchema>>;

function fileSchema() {
  return exactly({
    $schema: text.optional(),
    version: z.literal(1, { error: "must be 1" }),
    rules: z.array(ruleSchema(), { error: "must be an array of rules" }),
  }).meta({ title: "nacre policy rules" });
}

let known: ReturnType<typeof fileSchema> | undefined;

/** The schema of a rule file. */
export function ruleFileSchema(): ReturnType<typeof fileSchema> {
  known ??= fileSchema();
  return known;
}

/**
 * The JSON schema, for editors and for tools that check a file before nacre does. Marked as pure: otherwise the bundled
 * program would build the schema at every start without using it.
 */
export const RULES_SCHEMA = /* @__PURE__ */ z.toJSONSchema(/* @__PURE__ */ ruleFileSchema(), { io: "input" });
