// A cached verdict always equals a new judgment. It is reused only if none of its inputs has changed.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { DiskLinks } from "../../src/execution/disk-links.ts";
import { VerdictCache } from "../../src/execution/verdict-cache.ts";
import { judge } from "../../src/policy/judge.ts";
import type { PolicyFacts } from "../../src/policy/verdict.ts";
import { VERDICT_CACHE_COMMAND_MAX_CHARS, VERDICT_CACHE_MAX_COUNT } from "../../src/support/limits.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

let home = "";
let work = "";
let judged: string[] = [];
let cache: VerdictCache;

beforeEach(() => {
  home = join(directory(), "home");
  work = join(home, "proj");
  mkdirSync(join(work, "src"), { recursive: true });
  writeFileSync(join(home, "kept"), "");
  judged = [];
  cache = new VerdictCache((command, facts) => {
    judged.push(command);
    return judge(command, facts);
  });
});

function factsWith(changed: Partial<PolicyFacts> = {}): PolicyFacts & { readonly links: DiskLinks } {
  return { home, cwd: work, workspace: work, isRoot: false, ...changed, links: new DiskLinks() };
}

/** Returns the cache's verdict after checking that a new judgment is equal. */
function verdictOf(command: string, changed: Partial<PolicyFacts> = {}): string {
  const found = cache.verdict(command, factsWith(changed));
  expect(found).toEqual(judge(command, factsWith(changed)));
  return found.verdict;
}

const NO_STATE = { functions: [], aliases: {}, hashed: {}, variables: {}, shellOptions: [] };

describe("a command that was judged before", () => {
  test("is not judged again while nothing has changed", () => {
    expect(verdictOf("rm -rf src", { session: { ...NO_STATE } })).toBe("allow");
    // This session state is a different object with the same content.
    expect(verdictOf("rm -rf src", { session: { ...NO_STATE } })).toBe("allow");
    expect(judged).toEqual(["rm -rf src"]);
  });

  test("is judged again when a path has become a link", () => {
    expect(verdictOf("rm -rf src/*")).toBe("allow");
    rmSync(join(work, "src"), { recursive: true });
    symlinkSync(home, join(work, "src"));
    expect(verdictOf("rm -rf src/*")).not.toBe("allow");
  });

  test("is judged again when a directory contains a new link", () => {
    expect(verdictOf("rm -rf src/*/*")).toBe("allow");
    symlinkSync(home, join(work, "src", "up"));
    expect(verdictOf("rm -rf src/*/*")).not.toBe("allow");
  });

  test.each<[string, Partial<PolicyFacts>, Partial<PolicyFacts>]>([
    ["the directory", {}, { cwd: "/etc" }],
    ["the workspace", {}, { workspace: "/srv" }],
    ["an alias", { session: NO_STATE }, { session: { ...NO_STATE, aliases: { rm: "rm -rf /;" } } }],
    ["a function", { session: NO_STATE }, { session: { ...NO_STATE, functions: ["rm"] } }],
    ["a variable", { session: NO_STATE }, { session: { ...NO_STATE, variables: { HOME: "/" } } }],
    ["the profile", {}, { profile: "cautious" }],
    ["the user", {}, { isRoot: true }],
    ["the sandbox", {}, { sandboxed: true }],
    ["the policy files", {}, { policyFiles: ["/srv/rules.json"] }],
    ["the rules", { rules: [] }, { rules: [{ source: "user", rules: [] }] }],
  ])("is judged again when %s has changed", (_what, before, after) => {
    verdictOf("rm -rf src", before);
    verdictOf("rm -rf src", after);
    expect(judged).toHaveLength(2);
    verdictOf("rm -rf src", before);
    expect(judged).toHaveLength(3);
  });
});

test("a cached verdict is outdated if one of its links changes before the command starts", () => {
  verdictOf("rm -rf src/*");
  const facts = factsWith();
  cache.verdict("rm -rf src/*", facts);
  expect(judged).toHaveLength(1);
  expect(facts.links.isCurrent()).toBe(true);
  rmSync(join(work, "src"), { recursive: true });
  symlinkSync(home, join(work, "src"));
  expect(facts.links.isCurrent()).toBe(false);
});

test("the cache keeps a bounded number of commands: the most recently used ones", () => {
  verdictOf("true");
  for (let i = 1; i < VERDICT_CACHE_MAX_COUNT; i++) verdictOf(`echo ${i}`);
  verdictOf("true");
  expect(judged).toHaveLength(VERDICT_CACHE_MAX_COUNT);
  verdictOf("echo one more");
  verdictOf("true");
  expect(judged).toHaveLength(VERDICT_CACHE_MAX_COUNT + 1);
  verdictOf("echo 1");
  expect(judged).toHaveLength(VERDICT_CACHE_MAX_COUNT + 2);
});

test("a long command is judged each time", () => {
  const long = `echo ${"x".repeat(VERDICT_CACHE_COMMAND_MAX_CHARS)}`;
  verdictOf(long);
  verdictOf(long);
  expect(judged).toHaveLength(2);
});
