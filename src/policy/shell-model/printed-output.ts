// The output of a command: its origins, and its text if the program's record can predict it.

import { POLICY_FOLDED_MAX_CHARS } from "../../support/limits.ts";
import { holdsCredentials, type Where } from "../paths/paths.ts";
import type { Prints } from "../programs/program-record.ts";
import { programNamed } from "../programs/programs.ts";
import type { EffectiveCommand, Field } from "./command.ts";
import { type DataOrigin, type Flow, flowOf, joinOrigins, NO_ORIGINS } from "./flow.ts";
import type { Scope } from "./script-scope.ts";

const NOTHING: Prints = {};

export function foldOutput(command: EffectiveCommand, scope: Scope, where: Where): Flow {
  const { prints = NOTHING } = programNamed(command.program);
  const folded = prints.text?.(command, scope, where) ?? null;
  const text = folded !== null && folded.length > POLICY_FOLDED_MAX_CHARS ? null : folded;
  const carried = joinOrigins(command.stdin.origins, command.substituted, ownOrigins(command, prints));
  const gone: DataOrigin | null = prints.selects?.(command) ? "processes" : null;
  // The output of a program is not the file that the program reads, so drop the origin "file" here.
  const flow = flowOf(
    text,
    carried.filter((origin) => origin !== gone && origin !== "file"),
  );
  const alternatives = prints.alternatives?.(command);
  return alternatives && alternatives.length > 1 ? { ...flow, alternatives } : flow;
}

function ownOrigins(command: EffectiveCommand, { origins }: Prints): readonly DataOrigin[] {
  const own = origins?.(command) ?? [];
  // Decoded data can also be secret, so continue for it. Programs with other origins do not print the files in their
  // arguments.
  if (own.length > 0 && !own.includes("decoded")) return own;
  const shown = joinOrigins(own, own.includes("settings") ? NO_ORIGINS : dataShown(command));
  return readsSecret(command) ? joinOrigins(shown, ["secret"]) : shown;
}

/** Programs that print data of the machine or the repository. */
const LISTS =
  /^(env|printenv|set|export|declare|history|ls|tree|find|ps|id|last|ip|ifconfig|arp|netstat|ss|mysqldump|pg_dump|crontab|dmesg|journalctl|tar|zip|getent)$/;
/** Programs that print the files in their arguments. */
const SHOWS = /^(cat|tac|head|tail|strings|grep|rg|sed|awk|cut|sort|nl|jq|yq|paste)$/;
const PACKS = /^(base64|base32|basenc|xxd|od|hexdump|gzip|bzip2|xz|zstd|openssl|uuencode)$/;
const GIT_SHOWS = /^(diff|log|show|archive|bundle|stash|format-patch|cat-file|blame|grep|ls-files)$/;

function dataShown({ program, args, stdin }: EffectiveCommand): readonly DataOrigin[] {
  const reads = stdin.origins.includes("file") || args.some(({ text }) => /^[^-]/.test(text));
  if (program === "whoami" || program === "logname") return ["identity"];
  if (PACKS.test(program)) return reads || stdin.origins.includes("data") ? ["data", "packed"] : NO_ORIGINS;
  if (program === "git") return GIT_SHOWS.test(args[0]?.text ?? "") ? ["data"] : NO_ORIGINS;
  return LISTS.test(program) || (SHOWS.test(program) && reads) ? ["data"] : NO_ORIGINS;
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
