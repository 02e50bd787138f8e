// The position of a command in the walk, and the fields that its words become.

import type { Assignment, Word } from "unbash";
import type { Field } from "./command.ts";
import type { DataOrigin, Flow } from "./flow.ts";
import type { Scope } from "./script-scope.ts";
import type { Span } from "./span.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateText, evaluateWord } from "./words.ts";

/** The position of a command in the walk. */
export interface Frame {
  readonly scope: Scope;
  readonly stdin: Flow;
  readonly via: readonly string[];
  /** The span to report for everything inside a nested text; null outside nested texts. */
  fixed: Span | null;
  /** The span of the command whose words are being evaluated. */
  around?: Span;
  /** The origins of the values of loop variables. */
  readonly carries?: readonly DataOrigin[];
  /** Whether a condition tests the exit status: `set -e` then does not end the shell. */
  readonly isTested?: boolean;
}

/** The span of a node in the judged text. */
export function spanOf(node: { readonly pos: number; readonly end: number }, frame: Frame): Span {
  return frame.fixed ?? { start: node.pos, end: node.end };
}

export function fieldsOf(
  word: Word | Assignment,
  frame: Frame,
  context: WordContext,
): readonly (readonly Field[])[] {
  const span = spanOf(word, frame);
  if (word.type === "Assignment") {
    // A subscript can run commands.
    if (word.index) evaluateText(word.index, context);
    const name = word.name + (word.append ? "+=" : "=");
    return fieldValues(word, context).map((value) => [{ text: name + value, span }]);
  }
  const { alternatives, flow } = evaluateWord(word, context);
  const first: Omit<Field, "text"> = flow ? { span, flow } : { span };
  const further: Omit<Field, "text"> = { ...first, isAlternative: true };
  return alternatives.map((fields, i) =>
    fields.map((text) => (i === 0 ? { text, ...first } : { text, ...further })),
  );
}

export function fieldValues(node: Assignment, context: WordContext): readonly string[] {
  if (node.value.type === "Word") return evaluateText(node.value, context);
  const values = node.value.elements.flatMap((word) => evaluateWord(word, context).alternatives.flat());
  // `([key]=value)` assigns the value.
  return values.map((value) => value.replace(/^\[[^\]]{0,256}\]\+?=/, ""));
}
