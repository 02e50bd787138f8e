// Builtins that change what later words mean: cd, export, read, set, alias, trap, eval and the like.

import { POLICY_ALTERNATIVES_MAX_COUNT } from "../../support/limits.ts";
import { readOptions } from "../programs/read-options.ts";
import { COMMAND_IN_VALUE } from "./arithmetic.ts";
import { certainlyExists, directoriesNamed } from "./cd-targets.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "./command.ts";
import { formatted } from "./decode-text.ts";
import { type Flow, flowOf } from "./flow.ts";
import { isUnresolved, UNKNOWN } from "./marks.ts";
import { inSeparateProcess } from "./nested-context.ts";
import type { Ended, Scope } from "./script-scope.ts";

/** Returns the output, or null if foldOutput must compute it, as for any other program. */
type Builtin = (command: EffectiveCommand, around: CommandContext, runner: Runner) => Flow | null;

export function runBuiltin(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const builtin = Object.hasOwn(BUILTINS, command.called) ? BUILTINS[command.called] : undefined;
  return builtin ? builtin(command, around, runner) : null;
}

const SILENT = flowOf("");

const BUILTINS: Readonly<Record<string, Builtin>> = {
  cd: changesDirectory,
  pushd: changesDirectory,
  popd: (_, { scope }) => {
    scope.move(() => UNKNOWN);
    return SILENT;
  },
  exit: ends("shell"),
  logout: ends("shell"),
  return: ends("function"),
  break: ends("loop"),
  continue: ends("loop"),
  export: declares,
  declare: declares,
  typeset: declares,
  local: declares,
  readonly: declares,
  read: reads,
  mapfile: readsWithCallback,
  readarray: readsWithCallback,
  compgen: (command, around, runner) => callsBack(command, "C", around, runner),
  complete: (command, around, runner) => callsBack(command, "C", around, runner),
  hash: (command, around) => {
    const options = readOptions(command.args, { values: "-pt" });
    const [path] = options.values.get("p") ?? [];
    const [name] = options.operands;
    if (options.flags.has("r")) around.scope.names = around.scope.names.withoutHashed();
    if (path && name) around.scope.names = around.scope.names.withHashed(name.text, path.text);
    return SILENT;
  },
  enable: (command, { scope }) => {
    const { flags, operands } = readOptions(command.args, { values: "-f" });
    for (const { text } of flags.has("n") ? operands : []) scope.names = scope.names.withRedefined(text);
    return SILENT;
  },
  shopt: (command, { scope }) => {
    const { flags, operands } = readOptions(command.args);
    if (!flags.has("s") && !flags.has("u")) return SILENT;
    for (const { text } of operands) scope.names = scope.names.withOption(text, flags.has("s"));
    return SILENT;
  },
  unalias: (command, { scope }) => {
    for (const { text } of command.args) scope.removeAlias(text);
    return SILENT;
  },
  getopts: reads,
  unset: (command, around, runner) => {
    evaluatedNames(command.args, runner);
    const { flags, operands } = readOptions(command.args);
    for (const { text } of operands) {
      if (flags.has("f")) around.scope.undefine(text);
      // If IFS is unset, bash splits words as it does with the default IFS.
      else if (text === "IFS") around.scope.unassign(text);
      else if (/^\w+$/.test(text)) around.scope.assign(text, [""]);
    }
    return SILENT;
  },
  wait: (command, _around, runner) => {
    evaluatedNames(command.args, runner);
    return SILENT;
  },
  printf: printsIntoVariable,
  test: testsVariable,
  "[": testsVariable,
  let: (command, { scope }, runner) => {
    for (const { text, span } of command.args) {
      if (COMMAND_IN_VALUE.test(text)) runner.sign("evaluated-data", span, "let evaluates a subscript");
    }
    for (const { text } of command.args) scope.forget(/^\w+/.exec(text)?.[0] ?? "_");
    return SILENT;
  },
  set: (command, { scope }) => {
    setsErrorExit(command, scope);
    const at = command.args.findIndex(({ text }) => text === "--" || !/^[-+]/.test(text));
    if (at < 0) return SILENT;
    const from = command.args[at]?.text === "--" ? at + 1 : at;
    const isOptionValue = /^[-+][a-z]*o$/.test(command.args[at - 1]?.text ?? "");
    if (!isOptionValue) scope.positional = command.args.slice(from).map(({ text }) => text);
    return SILENT;
  },
  shift: (command, { scope }) => {
    const count = Number(command.args[0]?.text ?? 1);
    scope.positional = scope.positional && Number.isInteger(count) ? scope.positional.slice(count) : null;
    return SILENT;
  },
  alias: (command, around, runner) => {
    for (const { text } of command.args) {
      const equal = text.indexOf("=");
      if (equal <= 0) continue;
      around.scope.setAlias(text.slice(0, equal), text.slice(equal + 1));
      runner.runText(text.slice(equal + 1), inSeparateProcess(around, "alias"));
    }
    return SILENT;
  },
  trap: (command, around, runner) => {
    const [action] = readOptions(command.args).operands;
    if (action && action.text !== "-" && command.args.length > 1)
      runner.runText(action.text, inSeparateProcess(around, "trap"));
    return SILENT;
  },
  fc: (command, _around, runner) => {
    // fc lists commands only with -l; -n and -r only change the format of the list.
    const { flags } = readOptions(command.args, { values: "-e" });
    if (command.args.length > 0 && !flags.has("l"))
      runner.sign("hidden-code", command.span, "fc runs commands from the history again");
    return SILENT;
  },
  eval: (command, around, runner) => {
    const text = command.args.map((arg) => arg.text).join(" ");
    if (text.trim() === UNKNOWN && command.substituted.join() === "settings") return SILENT;
    if (isUnresolved(text))
      runner.sign(unreadable(command), command.span, "eval runs text that is built at run time");
    return runner.runText(text, { ...around, via: [...around.via, "eval"], redirects: [] });
  },
};

const ERROR_EXIT = /^([-+])\w*e\w*$/;

function setsErrorExit({ args }: EffectiveCommand, scope: Scope): void {
  for (const [i, { text }] of args.entries()) {
    const named = text === "errexit" ? /^([-+])\w*o$/.exec(args[i - 1]?.text ?? "") : null;
    const [, sign] = ERROR_EXIT.exec(text) ?? named ?? [];
    if (sign !== undefined) scope.exitsOnError = sign === "-";
    if (text === "--") return;
  }
}

function ends(what: Ended): Builtin {
  return (_command, { scope }) => {
    scope.ended = what;
    return SILENT;
  };
}

function unreadable(command: EffectiveCommand): "remote-code" | "hidden-code" {
  return command.substituted.includes("network") ? "remote-code" : "hidden-code";
}

function changesDirectory(command: EffectiveCommand, { scope }: CommandContext, { where }: Runner): Flow {
  const { operands, flags } = readOptions(command.args);
  // bash accepts one operand. Several operands here are the possible values of one word.
  const ways = (operands.length > 0 ? operands : [null]).map((target) => {
    const named = directoriesNamed(target?.text ?? null, command, scope, where);
    return flags.has("P") && target ? withoutLinks(target.text, named, scope) : named;
  });
  const targets = (cwd: string) => ways.flatMap((way) => way(cwd));
  const from = scope.cwds;
  if (from.every((cwd) => targets(cwd).every((path) => certainlyExists(path, cwd, scope, where))))
    scope.move((cwd) => targets(cwd)[0] ?? UNKNOWN);
  else scope.tryMove(targets);
  scope.assign("OLDPWD", from);
  scope.unassign("PWD");
  return SILENT;
}

/** `cd -P` follows links first, then goes up with `..`. */
function withoutLinks(text: string, named: (cwd: string) => readonly string[], { made }: Scope) {
  return (cwd: string) => [...made.links.followed(text, cwd, true), ...named(cwd)];
}

function declares(command: EffectiveCommand, { scope }: CommandContext, runner: Runner): Flow {
  const { flags, operands } = readOptions(command.args);
  evaluatedNames(operands, runner);
  const counts = new Map<string, number>();
  for (const { text, span } of operands) {
    const [, name = "", append, value = ""] = /^(\w+)(\+?)=([\s\S]*)$/.exec(text) ?? [];
    if (name === "") continue;
    if (flags.has("n")) runner.sign("evaluated-data", span, "a name reference can name any variable");
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    // The same name occurs several times for an array, and for a word with several possible values: store each value,
    // up to a limit.
    if (append !== "" || count === POLICY_ALTERNATIVES_MAX_COUNT) scope.forget(name);
    else if (count < POLICY_ALTERNATIVES_MAX_COUNT)
      scope.assign(name, count === 0 ? [value] : [...(scope.variable(name)?.values ?? []), value]);
  }
  return SILENT;
}

function reads(command: EffectiveCommand, { scope }: CommandContext, runner: Runner): Flow {
  const { operands, values } = readOptions(command.args, { values: "-adinNptu" });
  evaluatedNames(operands, runner);
  const lines = linesOf(command, values.get("u")?.[0], scope);
  const words = lines.map((line) => line.split(/\s+/));
  for (const { text } of values.get("a") ?? []) scope.assign(text, words.flat(), words.flat());
  for (const [i, { text }] of operands.entries()) {
    if (operands.length === 1) scope.assign(text, lines);
    else
      scope.assign(
        text,
        words.map((line) => line[i] ?? UNKNOWN),
      );
  }
  return SILENT;
}

/** Runs the text in an option: `mapfile -C`, `complete -C`. */
function callsBack(command: EffectiveCommand, option: string, around: CommandContext, runner: Runner): Flow {
  for (const { text } of readOptions(command.args, { values: `-${option}AFGPSWXo` }).values.get(option) ?? [])
    runner.runText(text, inSeparateProcess(around, command.called));
  return SILENT;
}

function readsWithCallback(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  const { values, operands } = readOptions(command.args, { values: "-CdnsuOc" });
  for (const { text } of values.get("C") ?? [])
    runner.runText(text, inSeparateProcess(around, command.called));
  evaluatedNames(operands, runner);
  const lines = linesOf(command, values.get("u")?.[0], around.scope);
  around.scope.assign(operands[0]?.text ?? "MAPFILE", lines, lines);
  return SILENT;
}

/** The lines that the builtin reads: from stdin, or from the descriptor after -u. */
function linesOf(
  { stdin }: EffectiveCommand,
  descriptor: Field | undefined,
  scope: Scope,
): readonly string[] {
  const kept = descriptor ? (scope.files.get(`/dev/fd/${descriptor.text}`) ?? null) : stdin;
  return kept?.connected ? (kept.text ?? UNKNOWN).trim().split("\n") : [UNKNOWN];
}

function printsIntoVariable(command: EffectiveCommand, around: CommandContext, runner: Runner): null {
  const [flag, name] = command.args;
  if (flag?.text.startsWith("-v")) {
    evaluatedNames(flag.text === "-v" && name ? [name] : [flag], runner);
    const [, , format, ...values] = command.args;
    const text =
      format && flag.text === "-v"
        ? formatted(
            format.text,
            values.map((value) => value.text),
          )
        : null;
    if (name) around.scope.assign(name.text, [text ?? UNKNOWN]);
  }
  return null;
}

function testsVariable(command: EffectiveCommand, _around: CommandContext, runner: Runner): Flow {
  evaluatedNames(command.args, runner);
  return SILENT;
}

/** bash evaluates the subscript of a name: `printf -v 'a[$(x)]'` runs x. */
function evaluatedNames(names: readonly Field[], runner: Runner): void {
  for (const { text, span } of names) {
    if (COMMAND_IN_VALUE.test(text.split("=")[0] ?? "")) {
      runner.sign("evaluated-data", span, "the subscript of the name runs a command");
    }
  }
}
