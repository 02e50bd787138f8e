// `nacre check`: what the policy thinks of a command. Nothing is run, and of the disk only files of rules are read.
import { resolve } from "node:path";
import { checkIsCommand } from "../../execution/admission.ts";
import { createJudging } from "../../execution/judging.ts";
import { explain, judge } from "../../policy/judge.ts";
import type { Decision, Explanation, PolicyFacts, Verdict } from "../../policy/verdict.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import type { Policy } from "../option.ts";
import { paintFor } from "../paint.ts";
import { printable } from "../printable.ts";
import { underlined } from "../underlined.ts";

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
  const { command, json = false, explain: whole = false } = options;
  checkIsCommand(command);
  const facts = factsOf(io, options);
  const words = (verdict: Verdict) => wordsFor(io, command, verdict);
  if (whole) {
    const explanation = explain(command, facts);
    const way = () => wordsForWay(explanation, words(explanation.verdict));
    io.stdout.write(json ? `${JSON.stringify(explanation)}\n` : way());
    return EXIT_CODES[explanation.verdict.verdict];
  }
  const verdict = judge(command, facts);
  io.stdout.write(json ? `${JSON.stringify(verdictWire(verdict))}\n` : words(verdict));
  return EXIT_CODES[verdict.verdict];
}

const EXIT_CODES: Readonly<Record<Decision, number>> = { allow: EXIT.ok, ask: EXIT.ask, deny: EXIT.deny };

/** The facts of `nacre run` in that directory. A home is that of another account, which is not root's. */
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

/** What a program needs to know, and no more. */
export function verdictWire({ verdict, rule, reason, span, alternative }: Verdict) {
  return { verdict, rule, reason, span, alternative };
}

function wordsFor(io: CliIo, command: string, { verdict, rule, reason, span, alternative }: Verdict): string {
  const paint = paintFor(io);
  const colour = { allow: paint.green, ask: paint.yellow, deny: paint.red }[verdict];
  if (rule === null) return `${colour(verdict)}\n`;
  const said = `${colour(verdict)}: ${printable(reason ?? "")} (rule ${rule})\n`;
  const where = span === null ? "" : underlined(command, span, { maxColumns: io.columns, paint: colour });
  const instead = alternative === null ? "" : `instead: ${printable(alternative)}\n`;
  return said + where + instead;
}

function wordsForWay({ parse, commands, verdict }: Explanation, said: string): string {
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
  const also = others.map(({ verdict: says, reason, rule, liftedBy }) => {
    const lifted = liftedBy === null ? "" : `, lifted by ${liftedBy}`;
    return `also ${says}: ${printable(reason)} (rule ${rule}${lifted})\n`;
  });
  return [parsed, ...steps, said, ...also].join("");
}
