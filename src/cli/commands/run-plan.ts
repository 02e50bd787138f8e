// What is left of the words of `nacre run` once they are understood.
import type { Policy } from "../option.ts";

export interface RunPlan {
  readonly command: string;
  /** Absolute. */
  readonly workingDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly policy: Policy;
  readonly policyFile: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly json: boolean;
}
