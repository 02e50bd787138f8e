// The JSON schema of a file of rules, for editors and for whoever checks it before nacre does.

import { EFFECT_KINDS } from "./effects/effect.ts";
import { PATH_CLASSES } from "./path-class.ts";

const TEXTS = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };

const wordsOf = (words: readonly string[]) => ({
  anyOf: [{ enum: [...words] }, { type: "array", items: { enum: [...words] } }],
});

export const RULES_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "nacre policy rules",
  type: "object",
  required: ["version", "rules"],
  additionalProperties: false,
  properties: {
    $schema: { type: "string" },
    version: { const: 1 },
    rules: {
      type: "array",
      items: {
        type: "object",
        required: ["id", "verdict", "matches"],
        additionalProperties: false,
        anyOf: [
          { required: ["program"] },
          { required: ["args"] },
          { required: ["effects"] },
          { required: ["paths"] },
        ],
        properties: {
          id: { type: "string", minLength: 1, description: "A name of its own; built-in ids are taken." },
          verdict: { enum: ["allow", "ask", "deny"] },
          program: { ...TEXTS, description: "Program names without a directory; * stands for anything." },
          args: { ...TEXTS, description: "Patterns with *; each must fit some argument." },
          without: { ...TEXTS, description: "Patterns with *; none may fit any argument." },
          effects: { ...wordsOf(EFFECT_KINDS), description: "What the command does to a path." },
          paths: { ...wordsOf(PATH_CLASSES), description: "Which kind of place it does that to." },
          lifts: {
            ...TEXTS,
            description: "For allow: the built-in rules it lifts. A deny is lifted only by its id.",
          },
          reason: { type: "string" },
          alternative: { type: "string" },
          matches: { ...TEXTS, description: "Commands it is about, checked when the file is read." },
          misses: { ...TEXTS, description: "Commands it is not about, checked when the file is read." },
        },
      },
    },
  },
} as const;
