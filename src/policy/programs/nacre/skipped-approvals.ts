// Agents that are started with their approvals turned off.

import { asksForHelp } from "../../facts.ts";
import { remembered } from "../../remembered.ts";
import type { CommandContext, EffectiveCommand, Runner } from "../../shell-model/command.ts";
import { isUnresolved, shown } from "../../shell-model/marks.ts";
import type { Scope } from "../../shell-model/script-scope.ts";
import { SHARED_SWITCHES } from "../agents.ts";
import type { Agent } from "../program-record.ts";
import { isKnownProgram, isWrapper, programNamed } from "../programs.ts";
import { runsScripts } from "./nacre-arguments.ts";

/** Reports an agent that would act without asking. The policy does not know which commands the agent runs. */
export function runAgent(command: EffectiveCommand, { scope }: CommandContext, runner: Runner): null {
  const agent = agentNamed(command.program);
  if (agent === "none") return null;
  const found = agent === "unknown" ? sharedSwitch(command) : loosened(agent, command, scope);
  if (found !== null && !asksForHelp(command))
    runner.sign("skips-approvals", command.span, `${command.program} ${found}`);
  return null;
}

const agentNamed = remembered((program): Agent | "unknown" | "none" => {
  const { agent } = programNamed(program);
  if (agent) return agent;
  return !runsScripts(program) && (isKnownProgram(program) || isWrapper(program)) ? "none" : "unknown";
});

/** An unknown program may be an agent, or start one. */
function sharedSwitch({ args }: EffectiveCommand): string | null {
  return args.find(({ text }) => SHARED_SWITCHES.has(text))?.text ?? null;
}

/** The option, value or variable that disables an agent's approvals, or null. */
function loosened(agent: Agent, { args, assignments }: EffectiveCommand, scope: Scope): string | null {
  const end = args.findIndex(({ text }, i) => text === "--" && i > 0);
  const texts = (end < 0 ? args : args.slice(0, end)).map(({ text }) => text);
  const flag = texts.find(
    (text) =>
      agent.flags?.some((name) => isFlag(text, name)) ||
      SHARED_SWITCHES.has(text.replace(/=(true|1|yes)$/i, "")),
  );
  if (flag !== undefined) return flag;
  const option = looseValue(agent, texts) ?? looseList(agent, texts);
  if (option !== null) return option;
  for (const [name, loose] of Object.entries(agent.variables ?? {})) {
    const given = assignments.filter((one) => one.name === name).map(({ value }) => value);
    const values = given.length > 0 ? given : (scope.variable(name)?.values ?? []);
    const hit = values.find((value) => loose.test(value) || isUnresolved(value));
    if (hit !== undefined) return `with ${name}=${shown(hit)}`;
  }
  const line = texts.filter((text) => !text.startsWith("-")).join(" ");
  return agent.verbs?.test(line) ? line.split(" ").slice(0, 2).join(" ") : null;
}

function looseValue({ values = {} }: Agent, texts: readonly string[]): string | null {
  for (const [name, loose] of Object.entries(values)) {
    for (const [i, text] of texts.entries()) {
      const value = optionValue(name, text, texts[i + 1]);
      if (value !== null && (loose.test(value) || isUnresolved(value))) return `${name} ${shown(value)}`;
    }
  }
  return null;
}

function looseList({ lists = {} }: Agent, texts: readonly string[]): string | null {
  for (const [name, loose] of Object.entries(lists)) {
    const at = texts.findIndex((text) => text === name || text.startsWith(`${name}=`));
    if (at < 0) continue;
    const next = texts.findIndex((word, i) => i > at && word.startsWith("-"));
    const list = [
      texts[at]?.slice(name.length + 1) ?? "",
      ...texts.slice(at + 1, next < 0 ? undefined : next),
    ];
    const hit = list.flatMap((word) => word.split(/[,\s]+/)).find((word) => loose.test(word));
    if (hit !== undefined) return `${name} ${shown(hit)}`;
  }
  return null;
}

function isFlag(text: string, name: string): boolean {
  if (text === name || (text.startsWith(`${name}=`) && !/=(false|0|no)$/i.test(text))) return true;
  return name.length === 2 && /^-[A-Za-z]{2,}$/.test(text) && text.includes(name.slice(1));
}

function optionValue(name: string, text: string, next: string | undefined): string | null {
  if (text === name) return next?.replace(/^["']|["']$/g, "") ?? null;
  if (text.startsWith(`${name}=`)) return text.slice(name.length + 1);
  const isShort = name.length === 2 && text.startsWith(name) && !text.startsWith("--");
  return isShort ? text.slice(2) : null;
}
