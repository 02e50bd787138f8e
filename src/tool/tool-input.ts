// One tool's input, worked out once from its zod object: the JSON Schema models see, the list of parameters,
// and the check every call goes through. The three can only agree, because they have one source.
//
// They agree but for this: null for an optional parameter counts as absent (own-arguments.ts), an integer must
// be one that JavaScript holds without rounding, zod forgives multipleOf a rounding error, and drops `__proto__`
// from open objects unseen.

import type { z } from "zod";
import { MESSAGE_LIST_MAX_COUNT } from "../support/limits.ts";
import { closed } from "./closed.ts";
import { excerpt } from "./excerpt.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { ownArguments } from "./own-arguments.ts";
import { parametersOf, type ToolParameter } from "./parameters.ts";
import { knownParameters, problemOf } from "./problem.ts";
import { type JsonSchema, toJsonSchema } from "./schemas/json-schema.ts";

export type Validated<T> = { readonly value: T } | { readonly problem: string };

export class ToolInput<Input extends z.ZodObject> {
  readonly jsonSchema: JsonSchema;
  readonly parameters: readonly ToolParameter[];
  readonly #closed: Input;

  constructor(input: Input) {
    this.#closed = closed(input);
    this.jsonSchema = frozenCopy(toJsonSchema(input));
    this.parameters = parametersOf(this.jsonSchema);
  }

  /** The arguments with defaults filled in, or everything that is wrong with them in one message. */
  validate(args: unknown): Validated<z.output<Input>> {
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      return {
        problem: `Arguments must be an object of named parameters, got ${excerpt(args)}. ${knownParameters(this.jsonSchema)}`,
      };
    }
    let described = 0;
    const parsed = this.#closed.safeParse(ownArguments(this.#closed, args), {
      // A million bad items are counted, not described.
      error: (issue) => (described++ < MESSAGE_LIST_MAX_COUNT ? problemOf(issue, this.jsonSchema) : ""),
    });
    return parsed.success ? { value: parsed.data } : { problem: messages(parsed.error.issues).join("; ") };
  }
}

function messages(all: readonly z.core.$ZodIssue[]): string[] {
  const issues = all.filter((issue, i) => !isEcho(issue, all[i - 1]));
  const shown = issues.slice(0, MESSAGE_LIST_MAX_COUNT).map((issue) => issue.message);
  const more = issues.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more problems`] : shown;
}

// zod measures anything that has a length, even an array given for a string; one complaint is enough.
function isEcho(issue: z.core.$ZodIssue, previous: z.core.$ZodIssue | undefined): boolean {
  return previous?.code === "invalid_type" && previous.path.join(".") === issue.path.join(".");
}
