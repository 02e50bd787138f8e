// The cost of judging long arguments and input.

import type { Field } from "./command.ts";
import type { Flow } from "./flow.ts";

/** The cost in steps of the budget. Later stages read arguments and input several times. */
export function inputSteps(argv: readonly Field[], stdin: Flow): number {
  let chars = stdin.text?.length ?? 0;
  for (const { text } of argv) chars += text.length + FIELD_CHARS;
  return Math.max(0, chars - FREE_INPUT_CHARS) / INPUT_CHARS_PER_STEP;
}

/** The minimum cost of a field, in characters. */
const FIELD_CHARS = 4;
/** Ordinary commands are shorter than this. */
const FREE_INPUT_CHARS = 512;
const INPUT_CHARS_PER_STEP = 8;
