// Judges commands, and collects the facts that a judgment needs. This is a separate file because it imports the whole
// policy: execution-options.ts loads it only at its first use.

import { isAbsolute } from "node:path";
import { type JudgedEffect, judgedEffects } from "../approvals/judged-effect.ts";
import type { SandboxProfile } from "../engine/confinement.ts";
import { usualStateRoots } from "../engine/state-dir.ts";
import { explain, judge } from "../policy/judge.ts";
import {
  ENVIRONMENT_VARIABLES,
  type ExplainedPath,
  type PolicyFacts,
  type Verdict,
} from "../policy/verdict.ts";
import { homeDirectory } from "../support/home-directory.ts";
import { DiskLinks } from "./disk-links.ts";
import { PolicyFiles, type PolicySources } from "./policy-files.ts";
import { VerdictCache } from "./verdict-cache.ts";
import type { EntryPoint } from "./ways-to-allow.ts";

export interface Judging {
  readonly judge: (command: string, facts: PolicyFacts) => Verdict;
  /** The paths that the command would affect, and how. Empty if the host supplies its own judge. */
  readonly effects: (command: string, facts: PolicyFacts) => readonly ExplainedPath[];
  /** The effects that a remembered answer about the command would cover; null if they are not known. */
  readonly judgedEffects: (
    command: string,
    verdict: Verdict,
    facts: PolicyFacts,
  ) => readonly JudgedEffect[] | null;
  /** The first call reads the rule files of the workspace. Throws if a rule file is invalid. */
  readonly facts: (workspace: string, moment?: Moment) => JudgedFacts;
  readonly policyFiles: PolicyFiles;
  readonly entryPoint: EntryPoint;
}

/** The facts for one judgment, with the links that it followed. */
export interface JudgedFacts extends PolicyFacts {
  readonly links: DiskLinks;
}

/** The facts that can differ for the next command. */
export type Moment = Pick<PolicyFacts, "cwd" | "session" | "terminal">;

export interface JudgingOptions extends Pick<PolicySources, "policyFile" | "rules"> {
  readonly policy?: PolicyFacts["profile"];
  readonly sandbox?: SandboxProfile;
  /** Whether commands may run without the sandbox. If so, the policy must not rely on the sandbox. */
  readonly allowUnsandboxed?: boolean;
  readonly entryPoint?: EntryPoint;
  readonly judge?: Judging["judge"];
  /**
   * The home directory of another user. Commands are then judged as if this user, who is not root, ran them. @default
   * this user's
   */
  readonly home?: string;
  /** Ignores the rule files. Only for commands that nacre itself writes. @default false */
  readonly ignoreRuleFiles?: boolean;
}

export function createJudging(options: JudgingOptions): Judging {
  const { policyFile, rules, home, policy = "standard" } = options;
  const sandboxed = (options.sandbox ?? "off") !== "off" && options.allowUnsandboxed !== true;
  const policyFiles = new PolicyFiles({ policyFile, rules, home });
  const findUserPaths = rememberUserPaths();
  const verdicts = new VerdictCache(judge);
  return {
    // A judge that the host supplies may not be pure, so its verdicts are not cached.
    judge: options.judge ?? ((command, facts) => verdicts.verdict(command, facts)),
    effects: (command, facts) =>
      options.judge ? [] : explain(command, facts).commands.flatMap(({ paths }) => paths),
    judgedEffects: (command, { findings }, facts) =>
      options.judge ? null : judgedEffects(findings, explain(command, facts).commands),
    policyFiles,
    entryPoint: options.entryPoint ?? "library",
    facts: (workspace, moment = { cwd: workspace }) => {
      const user = findUserPaths();
      // Leave out a state root that contains the workspace: otherwise every file of the workspace would count as
      // nacre's own.
      const stateRoots = user.stateRoots.filter((root) => !`${workspace}/`.startsWith(`${root}/`));
      return {
        ...moment,
        home: home ?? user.home,
        workspace,
        isRoot: home === undefined && process.getuid?.() === 0,
        profile: policy,
        sandboxed,
        rules: options.ignoreRuleFiles ? [] : policyFiles.rulesFor(workspace),
        policyFiles: [policyFiles.own, policyFiles.settings],
        stateRoots,
        // The environment of another user is not known here.
        environment: home === undefined ? user.environment : {},
        links: new DiskLinks(),
      };
    },
  };
}

interface UserPaths extends Required<Pick<PolicyFacts, "stateRoots" | "environment">> {
  readonly home: string;
}

/**
 * Finds this user's home and state roots. Searches again only if an environment variable that they depend on has
 * changed.
 */
function rememberUserPaths(): () => UserPaths {
  let variables: string | undefined;
  let found: UserPaths = { home: "", stateRoots: [], environment: {} };
  return () => {
    const now = JSON.stringify(["HOME", ...ENVIRONMENT_VARIABLES].map((name) => process.env[name]));
    if (now !== variables) {
      variables = now;
      found = {
        home: homeDirectory(),
        stateRoots: usualStateRoots().map((root) => root.replace(/\/+$/, "")),
        environment: Object.fromEntries(
          ENVIRONMENT_VARIABLES.map((name) => [name, process.env[name] ?? ""]).filter(([, value = ""]) =>
            isAbsolute(value),
          ),
        ),
      };
    }
    return found;
  };
}
