// The effect that a remembered answer covers: the commands about which a rule asked, and what the policy found out
// about each. A later command matches only if each of its judged commands equals a remembered one.
import type { ExplainedCommand, ExplainedPath, Finding } from "../policy/verdict.ts";

export interface JudgedEffect {
  /** The rules that asked about this command. Empty if a rule asked only about a command that starts this one. */
  readonly rules: readonly string[];
  /** The reasons that the rules gave. */
  readonly reasons: readonly string[];
  readonly program: string;
  /** The program's first operand, often a subcommand; null if there is none. */
  readonly operand: string | null;
  /** The programs that start this program, outermost first. */
  readonly via: readonly string[];
  readonly paths: readonly ExplainedPath[];
}

/**
 * Returns null if a rule asked about anything but a known command, because a later command could not be compared with
 * it.
 */
export function judgedEffects(
  findings: readonly Finding[],
  commands: readonly ExplainedCommand[],
): readonly JudgedEffect[] | null {
  const asking = findings.filter(({ liftedBy }) => liftedBy === null);
  const about = commands.map((command) => ({
    command,
    found: asking.filter(({ rule, span }) => command.rules.includes(rule) && isInside(span, command.span)),
  }));
  const flagged = new Set(about.flatMap(({ command, found }) => (found.length > 0 ? command.program : [])));
  const covered = about.flatMap(({ found }) => found);
  if (asking.length === 0 || asking.some((finding) => !covered.includes(finding))) return null;
  const effects = about
    .filter(({ command, found }) => found.length > 0 || command.via.some((program) => flagged.has(program)))
    .map(({ command, found }) => effectOf(command, found));
  return effects.some(hasUnknown) ? null : effects;
}

/** Whether an answer remembered for the effects `remembered` covers a command with the effects `judged`. */
export function covers(
  remembered: readonly JudgedEffect[],
  judged: readonly JudgedEffect[],
  binding: "exact" | "class",
): boolean {
  const known = new Set(remembered.map((effect) => keyOf(effect, binding)));
  return judged.length > 0 && judged.every((effect) => known.has(keyOf(effect, binding)));
}

function effectOf({ program, args, via, paths }: ExplainedCommand, found: readonly Finding[]): JudgedEffect {
  const operand = args.find((arg) => !arg.startsWith("-")) ?? null;
  return {
    rules: found.map(({ rule }) => rule).sort(),
    reasons: found.map(({ reason }) => reason).sort(),
    program,
    // With paths, leave the operand out: an operand that is a path is already in `paths`.
    operand: paths.length > 0 ? null : operand,
    via,
    paths,
  };
}

/** Whether a value is unknown. The policy writes unknown values as an ellipsis. */
function hasUnknown({ program, operand, via, paths }: JudgedEffect): boolean {
  return [program, operand ?? "", ...via, ...paths.map(({ path }) => path)].some((text) =>
    text.includes("…"),
  );
}

function isInside(inner: Finding["span"], outer: Finding["span"]): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

function keyOf(
  { rules, reasons, program, operand, via, paths }: JudgedEffect,
  binding: "exact" | "class",
): string {
  const places = paths.map(({ effect, path, class: kind, recursive }) =>
    JSON.stringify([effect, kind, recursive, binding === "exact" ? path : null]),
  );
  // Reasons contain paths. With `class`, remove the paths from both reasons before they are compared.
  const texts = binding === "exact" ? reasons : reasons.map((reason) => withoutPaths(reason, paths));
  return JSON.stringify([rules, texts, program, operand, via, [...new Set(places)].sort()]);
}

function withoutPaths(reason: string, paths: readonly ExplainedPath[]): string {
  return paths.reduce((text, { path }) => text.replaceAll(path, "*"), reason);
}
