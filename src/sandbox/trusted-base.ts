// The files that nacre runs or reads outside every sandbox. A command that could write them could run code outside the
// sandbox. If such a file is in a writable path, nacre mounts it read-only. If that is impossible or would break the
// person's own tools, nacre refuses the sandbox.
//
// These files are: the package with its dependencies (some are loaded later), Node with its loaded libraries, bash, the
// links that nacre was started through, and files from the options.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../support/attempt.ts";
import { fsPath, isWithin, shownPath, withParents } from "../support/path-text.ts";
import type { SandboxRefusal } from "./explain.ts";
import { linkHolders } from "./guarded-links.ts";
import type { Protections } from "./protections.ts";
import { kindOf, realPath } from "./real-path.ts";

export interface TrustedPath {
  /** Absolute and resolved. */
  readonly path: string;
  /** What nacre uses the path for, as a predicate: "is a dependency of nacre". */
  readonly role: string;
}

/** Returns the trusted paths that must be mounted read-only because they are in writable paths, or a refusal. */
export function guardTrusted(
  trusted: readonly TrustedPath[],
  writable: readonly string[],
): { readonly ok: true; readonly readOnly: readonly string[] } | SandboxRefusal {
  const readOnly = new Set<string>();
  for (const { path, role } of trusted) {
    const inside = writable.find((root) => isWithin(path, root) || isWithin(root, path));
    if (inside === undefined) continue;
    const problem = protectionProblem(path, inside, writable);
    if (problem !== undefined) return refused(path, role, problem);
    readOnly.add(path);
  }
  return { ok: true, readOnly: [...readOnly] };
}

/** Protects trusted paths, and the rule folders of the workspace. */
export function protectTrusted(
  protections: Protections,
  trusted: readonly TrustedPath[],
  policyFolders: readonly string[],
): void {
  for (const { path } of trusted) if (protections.kindAt(path) !== undefined) protections.readOnly.add(path);
  for (const path of policyFolders) {
    const isLink = protections.kindAt(path) !== undefined && protections.real(path) !== path;
    if (isLink) protections.reportLink(`the rules in ${shownPath(path)}`);
    else protections.protect(path, { kind: "directory" });
  }
}

/** The reason why the path cannot be mounted read-only. */
function protectionProblem(path: string, root: string, writable: readonly string[]): string | undefined {
  if (isWithin(root, path)) return `commands can write to ${shownPath(root)}`;
  const project = projectOf(path);
  if (project !== undefined && writable.some((other) => isWithin(project, other))) {
    return `commands can write to ${shownPath(root)}; protecting this path would break npm in ${shownPath(project)}`;
  }
  return undefined;
}

/** The project whose node_modules contains the path. The folder of global packages has no package.json next to it. */
function projectOf(path: string): string | undefined {
  const modules = withParents(path).filter((directory) => basename(directory) === "node_modules");
  return modules.map(dirname).find((project) => existsSync(fsPath(join(project, "package.json"))));
}

function refused(path: string, role: string, problem: string): SandboxRefusal {
  return {
    ok: false,
    why: `a command could change nacre's own files: ${shownPath(path)} ${role}, and ${problem}`,
    fix: "Install nacre outside the workspace and the writable paths, for example with npm install -g, and start it from there; or remove the path from writable.",
  };
}

/** The trusted files of this process. `bash` is the program that runs the keeper. */
export function ownProgram(bash: string | undefined): TrustedPath[] {
  const found: TrustedPath[] = [];
  const root = realPath(fileURLToPath(new URL("../../", import.meta.url)));
  found.push({ path: root, role: "is the package nacre runs from" });
  found.push(...dependenciesOf(root), ...launchLinks(root), ...programOf(process.execPath, "Node"));
  for (const file of loadedFiles()) found.push({ path: file, role: "is loaded into this process" });
  if (bash !== undefined) found.push(...programOf(bash, "bash"));
  return found;
}

/**
 * The dependencies, as Node resolves them from the package. For a dependency that is a link, both its folder and its
 * target.
 */
function dependenciesOf(root: string): TrustedPath[] {
  const manifest = attempt(() => JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as unknown);
  const { dependencies } = (manifest ?? {}) as { readonly dependencies?: Readonly<Record<string, string>> };
  return Object.keys(dependencies ?? {}).flatMap((name) => {
    const role = `is a dependency of nacre (${name})`;
    const candidates = withParents(root).filter((directory) => basename(directory) !== "node_modules");
    const folders = candidates.map((directory) => join(directory, "node_modules"));
    const index = folders.findIndex((folder) => kindOf(join(folder, name)) !== undefined);
    if (index < 0) return [];
    const path = join(folders[index] ?? "", name);
    const real = realPath(path);
    // Also protect the folder of a link: otherwise a command could replace the link. Protect the folders that Node
    // searches earlier, too.
    const nearer = folders
      .slice(0, index)
      .filter((folder) => kindOf(folder) !== undefined && !isWithin(folder, root));
    const guarded = real === path ? nearer : [...nearer, dirname(path)];
    return [real, ...guarded.map(realPath)].map((each) => ({ path: each, role }));
  });
}

/** The folders of links through which the person, an MCP client or an importing program starts nacre. */
function launchLinks(root: string): TrustedPath[] {
  const script = process.argv[1];
  if (script === undefined) return [];
  const isOwn = isWithin(realPath(script), root);
  const paths = isOwn ? [script] : importsFrom(dirname(script), root);
  return paths
    .flatMap(linkHolders)
    .filter((folder) => !isWithin(folder, root))
    .map((path) => ({ path, role: "holds a link that starts nacre" }));
}

/** The link in node_modules through which a program in this folder imports the package. */
function importsFrom(folder: string, root: string): string[] {
  const links = withParents(folder).map((directory) => join(directory, "node_modules/nacre"));
  return links.filter((path) => kindOf(path) !== undefined && realPath(path) === root).slice(0, 1);
}

/** A program and its `bin` folder. */
function programOf(file: string, name: string): TrustedPath[] {
  const path = realPath(file);
  const folder = dirname(path);
  const role = `is ${name}, which nacre runs outside the sandbox`;
  const program = { path, role };
  if (basename(folder) !== "bin") return [program];
  return [program, { path: folder, role: `holds ${name}, which nacre runs outside the sandbox` }];
}

/** Programs and libraries mapped into this process: a change of such a file changes the memory of this process. */
function loadedFiles(): string[] {
  const maps = attempt(() => readFileSync("/proc/self/maps", "utf8")) ?? "";
  const files = maps.matchAll(/^\S+ r.x\S* \S+ \S+ \d+ +(\/.*)$/gm);
  return [...new Set([...files].map(([, file = ""]) => file))].filter((file) => kindOf(file) === "file");
}
