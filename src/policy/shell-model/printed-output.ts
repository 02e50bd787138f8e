// What a command prints: the text where its program's record knows it, and where the data came from.

import { POLICY_FOLDED_MAX_CHARS } from "../../support/limits.ts";
import { holdsCredentials, type Where } from "../paths/paths.ts";
import type { Prints } from "../programs/program-record.ts";
import { programNamed } from "../programs/programs.ts";
import type { EffectiveCommand, Field } from "./command.ts";
import { type DataOrigin, type Flow, flowOf, joinOrigins } from "./flow.ts";
import type { Scope } from "./script-scope.ts";

const NOTHING: Prints = {};

export function foldOutput(command: EffectiveCommand, scope: Scope, where: Where): Flow {
  const { prints = NOTHING } = programNamed(command.program);
  const folded = prints.text?.(command, scope, where) ?? null;
  const text = folded !== null && folded.length > POLICY_FOLDED_MAX_CHARS ? null : folded;
  const carried = joinOrigins(command.stdin.origins, command.substituted, ownOrigins(command, prints));
  const gone: DataOrigin | null = prints.selects?.(command) ? "processes" : null;
  // Processed data is no longer the file itself.
  const flow = flowOf(
    text,
    carried.filter((origin) => origin !== gone && origin !== "file"),
  );
  const alternatives = prints.alternatives?.(command);
  return alternatives && alternatives.length > 1 ? { ...flow, alternatives } : flow;
}

function ownOrigins(command: EffectiveCommand, { origins }: Prints): readonly DataOrigin[] {
  const own = origins?.(command) ?? [];
  // Decoded data can be a secret as well. A program with another origin does not print the files it names.
  if (own.length > 0 && !own.includes("decoded")) return own;
  return readsSecret(command) ? joinOrigins(own, ["secret"]) : own;
}

function readsSecret({ args, redirects, cwds, links }: EffectiveCommand): boolean {
  const isSecret = ({ text }: Field): boolean =>
    /[./]/.test(text) &&
    !text.startsWith("-") &&
    cwds.some((cwd) => links.resolve(text, cwd, true).some(holdsCredentials));
  return (
    args.some(isSecret) || redirects.some(({ operator, target }) => operator === "<" && isSecret(target))
  );
}
