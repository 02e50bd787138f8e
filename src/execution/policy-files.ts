// Reads user rules: from the file that the host names or the one in the XDG configuration directory, and from files in
// the workspace, which can only make the policy stricter. Each file is read only once: otherwise an agent could change
// the rules later. An invalid file is an error; nacre never ignores it.
import { readFileSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type DocumentNode, evaluate, parse, type ValueNode } from "@humanwhocodes/momoa";
import { type RuleProblem, readRules } from "../policy/read-rules.ts";
import type { WrittenRule } from "../policy/rules-schema.ts";
import type { UserRuleSet } from "../policy/user-rule.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { MESSAGE_LIST_MAX_COUNT, POLICY_FILE_MAX_BYTES } from "../support/limits.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { POLICY_FILE, policyFolders, SETTINGS_FILE, userConfigFile } from "../support/policy-places.ts";
import { isError } from "../support/realms.ts";
import { systemCode } from "../support/system-error.ts";

export interface PolicySources {
  /** Replaces the file in the XDG configuration directory. */
  readonly policyFile?: string | undefined;
  /** Rules that the host passes directly, not in a file. */
  readonly rules?: readonly WrittenRule[] | undefined;
  /** The home directory of the user whose configuration is read. @default this user's */
  readonly home?: string | undefined;
}

/** The user's own rules in their written form, for sending to a remote end. Throws if the file is invalid. */
export function writtenRules(policyFile?: string): readonly WrittenRule[] {
  const file = policyFile === undefined ? userConfigFile(POLICY_FILE) : resolve(policyFile);
  const set = readPolicyFile(file, "user");
  if (!set && policyFile !== undefined)
    throw unusable(file, ["There is no such file. Create it, or remove it from the settings."]);
  if (!set) return [];
  const text = textOf(file) ?? "{}";
  return (evaluate(treeOf(file, text)) as { readonly rules?: readonly WrittenRule[] }).rules ?? [];
}

export class PolicyFiles {
  /** The user's own policy file. It need not exist. */
  readonly own: string;
  /** The user's settings, which choose the profile. They need not exist. */
  readonly settings: string;
  readonly #sources: PolicySources;
  readonly #files = new Map<string, UserRuleSet | null>();
  readonly #workspaces = new Map<string, readonly UserRuleSet[]>();

  constructor(sources: PolicySources) {
    const { policyFile, home } = sources;
    this.#sources = sources;
    this.own = policyFile === undefined ? userConfigFile(POLICY_FILE, home) : resolve(policyFile);
    this.settings = userConfigFile(SETTINGS_FILE, home);
  }

  /** All rules for a workspace. Throws if a file is invalid. */
  rulesFor(workspace: string): readonly UserRuleSet[] {
    const known = this.#workspaces.get(workspace);
    if (known) return known;
    const sets = [
      ...inline(this.#sources.rules ?? []),
      this.#own(),
      ...policyFolders(workspace).map((folder) => this.#read(join(folder, POLICY_FILE), "workspace")),
    ].filter((set) => set !== null);
    this.#workspaces.set(workspace, sets);
    return sets;
  }

  #own(): UserRuleSet | null {
    const set = this.#read(this.own, "user");
    if (set || this.#sources.policyFile === undefined) return set;
    throw unusable(this.own, ["There is no such file. Create it, or remove it from the settings."]);
  }

  /** Returns null if the file does not exist. */
  #read(file: string, source: UserRuleSet["source"]): UserRuleSet | null {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    const set = readPolicyFile(file, source);
    this.#files.set(file, set);
    return set;
  }
}

function inline(rules: readonly WrittenRule[]): readonly UserRuleSet[] {
  if (rules.length === 0) return [];
  const reading = readRules({ version: 1, rules }, "user");
  if (reading.ok) return [reading.set];
  const problems = reading.problems.map(({ message }) => message);
  throw new NacreError("invalid_input", `The option rules cannot be used.\n${listed(problems)}`);
}

function readPolicyFile(file: string, source: UserRuleSet["source"]): UserRuleSet | null {
  const text = textOf(file);
  if (text === null) return null;
  const tree = treeOf(file, text);
  const reading = readRules(evaluate(tree), source, file);
  if (reading.ok) return reading.set;
  throw unusable(
    file,
    reading.problems.map((problem) => `line ${lineOf(tree, problem)}: ${problem.message}`),
  );
}

function textOf(file: string): string | null {
  try {
    const { size } = fileOnly(statSync(fsPath(file)));
    if (size > POLICY_FILE_MAX_BYTES) throw new Error(`it is larger than ${POLICY_FILE_MAX_BYTES} bytes`);
    // Some editors write a byte order mark; JSON does not allow one.
    return readFileSync(fsPath(file), "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw unusable(file, [`It cannot be read: ${messageOf(error)}. Make it a readable file, or remove it.`]);
  }
}

/** Refuses a pipe, because reading it would block until a writer opens it. */
function fileOnly(stats: Stats): Stats {
  if (stats.isFile()) return stats;
  throw new Error("it is not a file");
}

function treeOf(file: string, text: string): DocumentNode {
  try {
    return parse(text, { mode: "json" });
  } catch (error) {
    const line = isError(error) && "line" in error ? `line ${error.line}: ` : "";
    throw unusable(file, [`${line}It is not JSON: ${messageOf(error)}.`]);
  }
}

/** The line of the value with the problem, or of its parent if the value is missing. */
function lineOf(tree: DocumentNode, { at }: RuleProblem): number {
  let node: ValueNode = tree.body;
  for (const key of at) {
    const next = memberOf(node, key);
    if (!next) break;
    node = next;
  }
  return node.loc.start.line;
}

function memberOf(node: ValueNode, key: string | number): ValueNode | undefined {
  if (node.type === "Array" && typeof key === "number") return node.elements[key]?.value;
  if (node.type !== "Object") return undefined;
  return node.members.find(({ name }) => (name.type === "String" ? name.value : name.name) === key)?.value;
}

function unusable(file: string, problems: readonly string[]): NacreError {
  const message = `The policy file ${shownPath(file)} cannot be used, and without it nothing is run.\n${listed(problems)}`;
  return new NacreError("invalid_input", message);
}

function listed(problems: readonly string[]): string {
  const shown = problems.slice(0, MESSAGE_LIST_MAX_COUNT).map((problem) => `  ${problem}`);
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}
