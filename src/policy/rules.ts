// All built-in rules, in one list.

import type { SignKind } from "./command.ts";
import type { CommandRule, Rule, SignRule } from "./rule.ts";
import { deletionRules } from "./rules/deletion.ts";
import { diskRules } from "./rules/disks.ts";
import { moveRules } from "./rules/moves.ts";
import { permissionRules } from "./rules/permissions.ts";
import { processRules } from "./rules/processes.ts";
import { signRules } from "./rules/signs.ts";
import { systemFileRules } from "./rules/system-files.ts";

export const RULES: readonly Rule[] = [
  ...deletionRules,
  ...moveRules,
  ...permissionRules,
  ...diskRules,
  ...systemFileRules,
  ...processRules,
  ...signRules,
];

export const COMMAND_RULES: readonly CommandRule[] = RULES.filter((rule): rule is CommandRule => "check" in rule);

export const SIGN_RULES: ReadonlyMap<SignKind, SignRule> = new Map(
  RULES.filter((rule): rule is SignRule => "sign" in rule).map((rule) => [rule.sign, rule]),
);
