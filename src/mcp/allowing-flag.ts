// The flag that would let a command run which the policy wants a person to be asked about.
import type { Verdict } from "../policy/verdict.ts";

/** undefined where no person needs to be asked, or no flag would help. */
export function allowingFlag({ verdict, severity }: Verdict): string | undefined {
  if (verdict !== "ask") return undefined;
  return severity === "low" || severity === "medium" ? "--policy trusting" : "--policy off";
}
