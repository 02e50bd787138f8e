// kit.run in a session, and kit.sh.
import type { JudgedSession } from "../execution/judged-session.ts";
import { type PendingRun, pendingRun } from "../execution/live-output.ts";
import type { RunResult } from "../execution/run-result.ts";
import { NacreError } from "../support/errors.ts";
import { quotedExcerpt } from "../support/excerpt.ts";
import { type ShValue, shCommand } from "./sh-template.ts";
import type { RunKitOptions } from "./toolkit-options.ts";

/** Tags a template: kit.sh`cp ${from} ${to}`. With options first: kit.sh({ cwd })`ls`. */
export interface ShTag {
  (parts: TemplateStringsArray, ...values: readonly ShValue[]): PendingRun<RunResult>;
  (
    options: RunKitOptions,
  ): (parts: TemplateStringsArray, ...values: readonly ShValue[]) => PendingRun<RunResult>;
}

type Run = (command: string, options?: RunKitOptions) => PendingRun<RunResult>;

/** Does not throw: if the session or an option is invalid, returns a promise that rejects. */
export function runInSession(
  open: () => JudgedSession,
  command: string,
  { input, ...options }: Omit<RunKitOptions, "session">,
): PendingRun<RunResult> {
  try {
    if (input !== undefined) {
      throw new NacreError(
        "invalid_input",
        "The option input does not work with session: commands of a session have no stdin. Write the input to a file that the command reads, or run it without session.",
      );
    }
    return open().run(command, options);
  } catch (error) {
    return failedRun(error);
  }
}

export function shTag(run: Run): ShTag {
  const tagWith =
    (options: RunKitOptions = {}) =>
    (parts: TemplateStringsArray, ...values: readonly ShValue[]) => {
      try {
        return run(shCommand(parts, values), options);
      } catch (error) {
        return failedRun(error);
      }
    };
  const isTemplate = (first: unknown): first is TemplateStringsArray => Array.isArray(first);
  const tag = (first: TemplateStringsArray | RunKitOptions, ...values: readonly ShValue[]) => {
    if (typeof first === "string") return failedRun(notATag(first));
    return isTemplate(first) ? tagWith()(first, ...values) : tagWith(first);
  };
  return tag as ShTag;
}

function notATag(command: string): NacreError {
  const call = `kit.run(${quotedExcerpt(command)})`;
  return new NacreError("invalid_input", `kit.sh is a template tag: write kit.sh\`…\`, or ${call}.`);
}

/** A run that failed before it began. */
export function failedRun(error: unknown): PendingRun<RunResult> {
  return pendingRun(undefined, () => Promise.reject(error));
}
