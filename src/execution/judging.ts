// What decides about commands: a judge, and the facts it is told about where they would run. A file of its own
// because it brings the whole policy along; execution-options.ts loads it when it is first needed.

import type { SandboxProfile } from "../engine/confinement.ts";
import { usualStateRoots } from "../engine/state-dir.ts";
import { judge } from "../policy/judge.ts";
import type { PolicyFacts, Verdict } from "../policy/verdict.ts";
import { homeDirectory } from "../support/home-directory.ts";
import { DiskLinks } from "./disk-links.ts";
import { PolicyFiles, type PolicySources } from "./policy-files.ts";
import type { Door } from "./ways-to-allow.ts";

export interface Judging {
  readonly judge: (command: string, facts: PolicyFacts) => Verdict;
  /** Reads the files of rules that hold in the workspace, the first time. Throws where one cannot be used. */
  readonly facts: (workspace: string, moment?: Moment) => JudgedFacts;
  readonly policyFiles: PolicyFiles;
  readonly door: Door;
}

/** The facts of one judgement: they remember which links were looked up for it. */
export interface JudgedFacts extends PolicyFacts {
  readonly links: DiskLinks;
}

/** What a verdict depends on that may be different at the next command. */
export type Moment = Pick<PolicyFacts, "cwd" | "session">;

export interface JudgingOptions extends Pick<PolicySources, "policyFile" | "rules"> {
  readonly policy?: PolicyFacts["profile"];
  /** Around the commands. */
  readonly sandbox?: SandboxProfile;
  /** They may run without, so nothing can be built on it. */
  readonly allowUnsandboxed?: boolean;
  readonly door?: Door;
  readonly judge?: Judging["judge"];
  /** Another user's home: judges as for that user, who is not root. @default the home of this user */
  readonly home?: string;
}

export function createJudging(options: JudgingOptions): Judging {
  const { policyFile, rules, home, policy = "standard" } = options;
  const sandboxed = (options.sandbox ?? "off") !== "off" && options.allowUnsandboxed !== true;
  const policyFiles = new PolicyFiles({ policyFile, rules, home });
  return {
    judge: options.judge ?? judge,
    policyFiles,
    door: options.door ?? "library",
    facts: (workspace, moment = { cwd: workspace }) => ({
      ...moment,
      home: home ?? homeDirectory(),
      workspace,
      isRoot: home === undefined && process.getuid?.() === 0,
      profile: policy,
      sandboxed,
      rules: policyFiles.rulesFor(workspace),
      policyFiles: [policyFiles.own, ...stateRootsBeside(workspace)],
      links: new DiskLinks(),
    }),
  };
}

/**
 * Where nacre keeps its state, by NACRE_HOME, XDG_STATE_HOME and the user's home. A root around the workspace is left
 * out: every file of the work would count as nacre's own.
 */
function stateRootsBeside(workspace: string): string[] {
  return usualStateRoots().filter((root) => !`${workspace}/`.startsWith(`${root.replace(/\/+$/, "")}/`));
}
