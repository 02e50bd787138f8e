// The arguments of the Bash tool, as a schema. Each tool group that the host enables can add parameters.
import { z } from "zod";
import { MIN_TIMEOUT_MS, TERMINAL_COLS_COUNT, TERMINAL_ROWS_COUNT } from "../support/limits.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

export type BashInput = ReturnType<typeof bashInputOf>;

const TERMINAL_INPUT = {
  terminal: z
    .boolean()
    .optional()
    .describe(
      "With run_in_background: give it a terminal; type with BashInput. For programs that ask questions",
    ),
  rows: z.int().optional(),
  cols: z
    .int()
    .optional()
    .describe(`Size of the terminal, ${TERMINAL_ROWS_COUNT} rows x ${TERMINAL_COLS_COUNT} cols if not given`),
};

export function bashInputOf(options: ResolvedExecutionOptions) {
  let input = baseInput(options);
  // Add the parameters of a group only if it is enabled: each parameter costs tokens in every conversation. The type
  // always includes them.
  if (options.terminals) input = input.extend(TERMINAL_INPUT);
  if (options.withPreview) input = input.extend(PREVIEW_INPUT);
  return input as unknown as FullInput;
}

type FullInput = z.ZodObject<
  ReturnType<typeof baseInput>["shape"] & typeof TERMINAL_INPUT & typeof PREVIEW_INPUT
>;

const PREVIEW_INPUT = {
  preview: z
    .boolean()
    .optional()
    .describe("Run it without writing anything to the workspace, and list the files it would change"),
};

function baseInput({ defaultTimeoutMs, defaultDeadline, maxTimeoutMs }: ResolvedExecutionOptions) {
  const minTimeoutMs = Math.min(MIN_TIMEOUT_MS, maxTimeoutMs);
  return z.object({
    command: z.string().min(1).describe("The bash command or script to run. May have many lines."),
    description: z.string().optional().describe("What it does, in 5 to 10 words, for the person who watches"),
    timeout: z
      .int()
      .min(minTimeoutMs, {
        error: ({ input }) =>
          `Parameter timeout must be at least ${minTimeoutMs}, got ${String(input)}. Its unit is milliseconds: for 30 seconds give 30000`,
      })
      .max(maxTimeoutMs, {
        error: ({ input }) =>
          `Timeout exceeds maximum: ${maxTimeoutMs}ms, got ${String(input)}. For a longer command set run_in_background`,
      })
      .optional()
      .describe(
        `Milliseconds the command may take, ${defaultDeadline ? defaultTimeoutMs : "no limit"} if not given. Not for background commands.`,
      ),
    run_in_background: z
      .boolean()
      .default(false)
      .describe("Return at once and let it run; read it with BashOutput, end it with KillShell"),
  });
}
