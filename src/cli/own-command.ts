// Runs nacre's own commands, for the tour and the checkup. Their text is fixed, so the policy is off. nacre does not
// read rule files for them: otherwise the checkup would report an invalid rule file as a problem of bash. Like every
// command, these need an admission.
import { admit } from "../execution/admission.ts";
import { resolveExecutionOptions } from "../execution/execution-options.ts";
import { createJudging } from "../execution/judging.ts";
import { startAlone } from "../execution/start-command.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import { createContext } from "../tool/context.ts";

export async function startOwnCommand(
  manager: ShellManager,
  { command, workingDir }: { readonly command: string; readonly workingDir: string },
  options: Parameters<typeof startAlone>[1] = {},
): Promise<ShellProcess> {
  const judging = createJudging({ policy: "off", ignoreRuleFiles: true, entryPoint: "cli" });
  const execution = resolveExecutionOptions({ manager, policy: "off", loadJudging: async () => judging });
  const wanted = { command, background: false, session: null };
  return await startAlone(await admit(wanted, createContext({ workingDir }), execution), options);
}
