// `nacre check`: asks the policy about a command. Runs nothing, and reads only rule files and symbolic links from disk.
import { resolve } from "node:path";
import { checkIsCommand } from "../../execution/command-text.ts";
import { createJudging } from "../../execution/judging.ts";
import { explain, judge } from "../../policy/judge.ts";
import type { Decision, Explanation, PolicyFacts, Verdict } from "../../policy/verdict.ts";
import { printable } from "../../support/printable.ts";
import type { CliIo } from "../cli-io.ts";
import { colorsFor } from "../colors.ts";
import { EXIT } from "../exit-code.ts";
import type { Policy } from "../option.ts";
import { printJson } from "../print.ts";
import { underline } from "../underline.ts";

export interface CheckOptions {
  readonly command: string;
  readonly cwd: string;
  readonly policy: Policy;
  readonly policyFile?: string;
  readonly home?: string;
  readonly json?: boolean;
  readonly explain?: boolean;
  readonly jsonl?: boolean;
}

export function printCheck(io: CliIo, options: CheckOptions): number {
  const { command, json = false } = options;
  checkIsCommand(command);
  const facts = factsOf(io, options);
  const explanation = options.explain ? explain(command, facts) : undefined;
  const verdict = explanation?.verdict ?? judge(command, facts);
  if (json) printJson(io, explanation ?? verdictWire(verdict));
  else {
    const text = formatVerdict(io, command, verdict);
    io.stdout.write(explanation ? formatExplanation(explanation, text) : text);
  }
  return EXIT_CODES[verdict.verdict];
}

const EXIT_CODES: Readonly<Record<Decision, number>> = { allow: EXIT.ok, ask: EXIT.ask, deny: EXIT.deny };

/** The facts that `nacre run` would use in this directory. With `home`: as if a non-root user with this home ran it. */
export function factsOf(
  io: CliIo,
  { cwd, home, policy, policyFile }: Pick<CheckOptions, "cwd" | "home" | "policy" | "policyFile">,
): PolicyFacts {
  const judging = createJudging({
    policy,
    ...(home === undefined ? {} : { home }),
    ...(policyFile === undefined ? {} : { policyFile }),
  });
  return judging.facts(resolve(io.cwd, cwd));
}

/** The fields of a verdict for programs. */
export function verdictWire({ verdict, rule, reason, span, alternative }: Verdict) {
  return { verdict, rule, reason, span, alternative };
}

function formatVerdict(
  io: CliIo,
  command: string,
  { verdict, rule, reason, span, alternative }: Verdict,
): string {
  const colors = colorsFor(io);
  const color = { allow: colors.green, ask: colors.yellow, deny: colors.red }[verdict];
  if (rule === null) return `${color(verdict)}\n`;
  const headline = `${color(verdict)}: ${withoutStop(reason ?? "")} (rule ${rule})\n`;
  const where = span === null ? "" : underline(command, span, { maxColumns: io.columns, paint: color });
  const instead = alternative === null ? "" : `instead: ${printable(alternative)}\n`;
  return headline + where + instead;
}

function formatExplanation({ parse, commands, verdict }: Explanation, verdictText: string): string {
  const parsed = parse.ok
    ? "parse: ok\n"
    : parse.problems.map((problem) => `parse: not understood: ${printable(problem)}\n`).join("");
  const steps = commands.map(({ program, args, via, cwd, paths, rules }) => {
    const wrappers = via.length === 0 ? "" : ` (through ${via.join(", ")})`;
    const touches = paths.map(({ effect, path, class: kind, recursive }) => {
      return `  ${effect}${recursive ? " recursively" : ""}: ${path} (${kind})\n`;
    });
    const found = rules.map((rule) => `  rule ${rule}\n`);
    const line = `${[program, ...args].join(" ")}${wrappers} in ${cwd.join(" or ")}\n`;
    return printable([line, ...touches, ...found].join(""));
  });
  const others = verdict.findings.filter(({ liftedBy }, i) => i > 0 || liftedBy !== null);
  const also = others.map(({ verdict: decision, reason, rule, liftedBy }) => {
    const lifted = liftedBy === null ? "" : `, lifted by ${liftedBy}`;
    return `also ${decision}: ${withoutStop(reason)} (rule ${rule}${lifted})\n`;
  });
  return [parsed, ...steps, verdictText, ...also].join("");
}

/** The reason without its final period, because the rule follows in parentheses. */
function withoutStop(reason: string): string {
  return printable(reason).replace(/\.$/, "");
}
