// The effects of a command on files, according to the record of its program.

import { POLICY_VALUE_PATH_MAX_CHARS } from "../../support/limits.ts";
import type { EffectiveCommand, Field } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import type { Sends } from "./program-record.ts";
import { programNamed } from "./programs.ts";
import { readOptions, valuesOf } from "./read-options.ts";

const NONE: readonly RawEffect[] = [];

export function programEffects(command: EffectiveCommand): readonly RawEffect[] {
  const { options: table, effects, reads, serves, sends, wraps } = programNamed(command.program);
  const writes = table?.writes;
  if (!effects && writes === undefined && !reads && !serves) return NONE;
  const all: RawEffect[] = [];
  if (effects || writes !== undefined) {
    // Options after the first operand belong to the inner command, not to the wrapper.
    const options = readOptions(command.args, table, wraps && !wraps.verb ? "at-operand" : "at-end");
    if (effects) all.push(...effects(options, command));
    if (writes !== undefined) all.push(...effectsOn(valuesOf(options, writes), "write"));
  }
  const server = serves?.(command);
  if (server) all.push(...effectsOn(server.directories, "read"));
  else if (reads) all.push(...filesRead(reads === true ? command.args : reads(command), command, sends));
  return all;
}

function filesRead(
  args: readonly Field[],
  { cwds, links }: EffectiveCommand,
  sends: Sends | undefined,
): readonly RawEffect[] {
  const mayHoldCredentials = cwds.some((cwd) => HOLDS_CREDENTIALS.test(cwd));
  const couldMatter = (name: string) =>
    mayHoldCredentials || cwds.some((cwd) => links.at(`${cwd}/${name}`).length > 0);
  return args.flatMap((arg, i): readonly RawEffect[] => {
    // The file is a key that authenticates a connection: the program does not print it.
    if (sends?.identity !== undefined && args[i - 1]?.text === "-i") return [];
    // A bare word can name a file in the current directory. In the arguments of a program that sends data, a bare
    // word is usually text.
    const path = pathIn(arg.text) ?? (!sends && isName(arg.text) && couldMatter(arg.text) ? arg.text : null);
    const target: Field = { ...arg, text: path ?? "" };
    return path === null ? [] : [{ kind: "read", target }];
  });
}

/** Options whose value is a file to send: `-d @file`, `-F f=@file`, `-T file`, `if=file`. */
const FILE_IN_VALUE =
  /^(?:-[dFT]|--(?:data(?:-\w+)?|form|upload-file|post-file|body-file)=?)?(?:[\w.]+=)?[@<]?(~?[/.\w].*)$/;

/** Directories in which a bare word can name a credential: hidden directories, /etc, /proc and /root. */
const HOLDS_CREDENTIALS = /\/\.[^./]|^\/(?:etc|proc|root)(?:\/|$)/;

function isName(text: string): boolean {
  return /^\w[\w@+:=,-]*$/.test(text) && text.length <= POLICY_VALUE_PATH_MAX_CHARS;
}

function pathIn(text: string): string | null {
  if (!/[./]/.test(text) || text.length > POLICY_VALUE_PATH_MAX_CHARS) return null;
  const [, path = ""] = FILE_IN_VALUE.exec(text) ?? [];
  return /^(-|https?:)/.test(path) || path === "" ? null : path;
}
