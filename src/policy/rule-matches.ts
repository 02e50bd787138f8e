// Whether a user rule matches a command.

import type { JudgedCommand } from "./facts.ts";
import { matchesPattern } from "./shell-model/glob.ts";
import type { UserRule } from "./user-rule.ts";

export function ruleMatches(rule: UserRule, command: JudgedCommand): boolean {
  if (command.program === "" && rule.program.length > 0) return false;
  if (rule.program.length > 0 && !rule.program.some((name) => matchesPattern(name, command.program)))
    return false;
  const args = command.args.map(({ text }) => text);
  if (!rule.args.every((pattern) => args.some((arg) => matchesPattern(pattern, arg)))) return false;
  if (rule.without.some((pattern) => args.some((arg) => matchesPattern(pattern, arg)))) return false;
  if (rule.effects.length === 0 && rule.paths.length === 0) return true;
  return command.effects.some(
    ({ kind, resolved }) =>
      (rule.effects.length === 0 || rule.effects.includes(kind)) &&
      (rule.paths.length === 0 || rule.paths.includes(resolved.class)),
  );
}
