// The home directory and working directory that the policy tests use.

import { judge } from "../../src/policy/judge.ts";
import type { PolicyFacts } from "../../src/policy/verdict.ts";

export const dev: PolicyFacts = { home: "/home/dev", cwd: "/home/dev/proj", isRoot: false };

export function verdictOf(command: string, facts: Partial<PolicyFacts> = {}): string {
  return judge(command, { ...dev, ...facts }).verdict;
}
