// The judge of commands, and the facts it needs. This is a separate file because it imports the whole policy, which
// execution-options.ts loads only when it is first needed.

import { type JudgedEffect, judgedEffects } from "../approvals/judged-effect.ts";
import type { SandboxProfile } from "../engine/confinement.ts";
import { usualStateRoots } from "../engine/state-dir.ts";
import { explain, judge } from "../policy/judge.ts";
import type { ExplainedPath, PolicyFacts, Verdict } from "../policy/verdict.ts";
import { homeDirectory } from "../support/home-directory.ts";
import { DiskLinks } from "./disk-links.ts";
import { PolicyFiles, type PolicySources } from "./policy-files.ts";
import { VerdictCache } from "./verdict-cache.ts";
import type { EntryPoint } from "./ways-to-allow.ts";

export interface Judging {
  readonly judge: (command: string, facts: PolicyFacts) => Verdict;
  /** What the command would do to which paths. Empty if the host supplies its own judge. */
  readonly effects: (command: string, facts: PolicyFacts) => readonly ExplainedPath[];
  /** What an answer about the command can be remembered for; null if that is not known. */
  readonly judgedEffects: (
    command: string,
    verdict: Verdict,
    facts: PolicyFacts,
  ) => readonly JudgedEffect[] | null;
  /** The first call reads the rule files of the workspace. Throws if one is invalid. */
  readonly facts: (workspace: string, moment?: Moment) => JudgedFacts;
  readonly policyFiles: PolicyFiles;
  readonly entryPoint: EntryPoint;
}

/** The facts of one judgement, with the links that it followed. */
export interface JudgedFacts extends PolicyFacts {
  readonly links: DiskLinks;
}

/** The facts that may differ at the next command. */
export type Moment = Pick<PolicyFacts, "cwd" | "session" | "terminal">;

export interface JudgingOptions extends Pick<PolicySources, "policyFile" | "rules"> {
  readonly policy?: PolicyFacts["profile"];
  readonly sandbox?: SandboxProfile;
  /** Commands may run without the sandbox, so the policy cannot rely on it. */
  readonly allowUnsandboxed?: boolean;
  readonly entryPoint?: EntryPoint;
  readonly judge?: Judging["judge"];
  /** Judges for another, non-root user, who has this home directory. @default this user */
  readonly home?: string;
  /** Only for commands that nacre itself writes. @default false */
  readonly ignoreRuleFiles?: boolean;
}

export function createJudging(options: JudgingOptions): Judging {
  const { policyFile, rules, home, policy = "standard" } = options;
  const sandboxed = (options.sandbox ?? "off") !== "off" && options.allowUnsandboxed !== true;
  const policyFiles = new PolicyFiles({ policyFile, rules, home });
  const findUserPaths = rememberUserPaths();
  const verdicts = new VerdictCache(judge);
  return {
    // The host's own judge may not be pure, so its verdicts are not cached.
    judge: options.judge ?? ((command, facts) => verdicts.verdict(command, facts)),
    effects: (command, facts) =>
      options.judge ? [] : explain(command, facts).commands.flatMap(({ paths }) => paths),
    judgedEffects: (command, { findings }, facts) =>
      options.judge ? null : judgedEffects(findings, explain(command, facts).commands),
    policyFiles,
    entryPoint: options.entryPoint ?? "library",
    facts: (workspace, moment = { cwd: workspace }) => {
      const user = findUserPaths();
      // Leave out a state root that contains the workspace. Otherwise every file there would count as nacre's own.
      const stateRoots = user.stateRoots.filter((root) => !`${workspace}/`.startsWith(`${root}/`));
      return {
        ...moment,
        home: home ?? user.home,
        workspace,
        isRoot: home === undefined && process.getuid?.() === 0,
        profile: policy,
        sandboxed,
        rules: options.ignoreRuleFiles ? [] : policyFiles.rulesFor(workspace),
        policyFiles: [policyFiles.own, policyFiles.settings, ...stateRoots],
        links: new DiskLinks(),
      };
    },
  };
}

/** Finds this user's home and state roots. Searches again only if a variable that decides them has changed. */
function rememberUserPaths(): () => { readonly home: string; readonly stateRoots: readonly string[] } {
  let variables: string | undefined;
  let found = { home: "", stateRoots: [] as readonly string[] };
  return () => {
    const { NACRE_HOME, XDG_STATE_HOME, HOME } = process.env;
    const now = JSON.stringify([NACRE_HOME, XDG_STATE_HOME, HOME]);
    if (now !== variables) {
      variables = now;
      found = {
        home: homeDirectory(),
        stateRoots: usualStateRoots().map((root) => root.replace(/\/+$/, "")),
      };
    }
    return found;
  };
}
