// Where a word stands, and the fields it becomes there.

import type { Assignment, Word } from "unbash";
import type { Field } from "./command.ts";
import type { DataOrigin, Flow } from "./flow.ts";
import type { Scope } from "./script-scope.ts";
import type { Span } from "./span.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateText, evaluateWord } from "./words.ts";

/** Where in the walk a command stands. */
export interface Frame {
  readonly scope: Scope;
  readonly stdin: Flow;
  readonly via: readonly string[];
  /** The span everything inside a nested text is reported at. */
  fixed: Span | null;
  /** The span of the command whose words are being evaluated. */
  around?: Span;
  /** Where the values of a loop's variable came from. */
  readonly carries?: readonly DataOrigin[];
  /** Whether something looks at the exit status, so that `set -e` does not end the shell. */
  readonly isTested?: boolean;
}

/** Where a node stands in the text that is judged. */
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
    // Evaluated for what a subscript runs.
    if (word.index) evaluateText(word.index, context);
    const name = word.name + (word.append ? "+=" : "=");
    return fieldValues(word, context).map((value) => [{ text: name + value, span }]);
  }
  const { alternatives, flow } = evaluateWord(word, context);
  return alternatives.map((fields) => fields.map((text) => (flow ? { text, span, flow } : { text, span })));
}

export function fieldValues(node: Assignment, context: WordContext): readonly string[] {
  if (node.value.type === "Word") return evaluateText(node.value, context);
  const values = node.value.elements.flatMap((word) => evaluateWord(word, context).alternatives.flat());
  // `([key]=value)` assigns the value.
  return values.map((value) => value.replace(/^\[[^\]]{0,256}\]\+?=/, ""));
}
