// What a command does to files, by the record of its program.

import { POLICY_VALUE_PATH_MAX_CHARS } from "../../support/limits.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import { programNamed } from "./programs.ts";
import { readOptions, valuesOf } from "./read-options.ts";

const NONE: readonly RawEffect[] = [];

export function programEffects(command: EffectiveCommand): readonly RawEffect[] {
  const { options: table, effects, reads, sends, wraps } = programNamed(command.program);
  const writes = table?.writes;
  if (!effects && writes === undefined && !reads) return NONE;
  const all: RawEffect[] = [];
  if (effects || writes !== undefined) {
    // The options of the inner command belong to the inner command.
    const options = readOptions(command.args, table, wraps && !wraps.verb ? "at-operand" : "at-end");
    if (effects) all.push(...effects(options, command));
    if (writes !== undefined) all.push(...effectsOn(valuesOf(options, writes), "write"));
  }
  if (reads) all.push(...filesRead(command, sends?.identity !== undefined));
  return all;
}

/** @param hasIdentity Whether -i names a key that opens a connection: it is used, not shown. */
function filesRead({ args }: EffectiveCommand, hasIdentity: boolean): readonly RawEffect[] {
  return args.flatMap((arg, i): readonly RawEffect[] => {
    if (hasIdentity && args[i - 1]?.text === "-i") return [];
    const path = pathIn(arg.text);
    const target: Field = { ...arg, text: path ?? "" };
    return path === null ? [] : [{ kind: "read", target }];
  });
}

/** Options whose value is a file to send: `-d @file`, `-F f=@file`, `-T file`, `if=file`. */
const FILE_IN_VALUE =
  /^(?:-[dFT]|--(?:data(?:-\w+)?|form|upload-file|post-file|body-file)=?)?(?:[\w.]+=)?[@<]?(~?[/.\w].*)$/;

function pathIn(text: string): string | null {
  if (!/[./]/.test(text) || text.length > POLICY_VALUE_PATH_MAX_CHARS) return null;
  const [, path = ""] = FILE_IN_VALUE.exec(text) ?? [];
  return /^(-|https?:)/.test(path) || path === "" ? null : path;
}
