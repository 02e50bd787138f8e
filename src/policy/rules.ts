// All built-in rules, in one list.

import type { CommandRule, Rule, SignRule } from "./rule.ts";
import { channelRules } from "./rules/channels.ts";
import { dataRules } from "./rules/data.ts";
import { deletionRules } from "./rules/deletion.ts";
import { diskRules } from "./rules/disks.ts";
import { exfiltrationRules } from "./rules/exfiltration.ts";
import { exposureRules } from "./rules/exposure.ts";
import { fetchedRules } from "./rules/fetched.ts";
import { gitRules } from "./rules/git-history.ts";
import { moveRules } from "./rules/moves.ts";
import { permissionRules } from "./rules/permission-changes.ts";
import { persistenceRules } from "./rules/persistence.ts";
import { privilegeRules } from "./rules/privilege.ts";
import { processRules } from "./rules/processes.ts";
import { sharedRules } from "./rules/shared.ts";
import { signRules } from "./rules/signs.ts";
import { systemFileRules } from "./rules/system-files.ts";
import { unfamiliarRules } from "./rules/unfamiliar.ts";
import { injectionRules } from "./rules/variable-injection.ts";
import type { SignKind } from "./shell-model/command.ts";

export const RULES: readonly Rule[] = [
  ...deletionRules,
  ...moveRules,
  ...permissionRules,
  ...diskRules,
  ...systemFileRules,
  ...processRules,
  ...privilegeRules,
  ...gitRules,
  ...dataRules,
  ...sharedRules,
  ...fetchedRules,
  ...exfiltrationRules,
  ...channelRules,
  ...exposureRules,
  ...persistenceRules,
  ...injectionRules,
  ...unfamiliarRules,
  ...signRules,
];

export const COMMAND_RULES: readonly CommandRule[] = RULES.filter(
  (rule): rule is CommandRule => "check" in rule,
);

export const SIGN_RULES: ReadonlyMap<SignKind, SignRule> = new Map(
  RULES.filter((rule): rule is SignRule => "sign" in rule).map((rule) => [rule.sign, rule]),
);
