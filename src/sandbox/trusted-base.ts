// The files that nacre runs or reads outside every sandbox. A command that could write them could run code outside. In
// writable paths they are mounted read-only. If that is impossible or would break the person's own tools, nacre refuses
// the sandbox.
//
// These files are: the package with its dependencies (some are loaded later), Node with its loaded libraries, bash, the
// links that nacre was started through, and files from the options.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../support/attempt.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import type { SandboxRefusal } from "./explain.ts";
import { linkHolders } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import { isWithin, kindOf, realPath } from "./real-path.ts";

export interface TrustedPath {
  /** Absolute and resolved. */
  readonly path: string;
  /** What nacre uses it for, as a predicate: "is a dependency of nacre". */
  readonly role: string;
}

/** The trusted paths in writable paths, to be mounted read-only; or the reason to refuse the sandbox. */
export function guardTrusted(
  trusted: readonly TrustedPath[],
  writable: readonly string[],
): { readonly ok: true; readonly readOnly: readonly string[] } | SandboxRefusal {
  const readOnly = new Set<string>();
  for (const { path, role } of trusted) {
    const inside = writable.find((root) => isWithin(path, root) || isWithin(root, path));
    if (inside === undefined) continue;
    const problem = protectionProblem(path, inside, writable);
    if (problem !== undefined) return refused(path, role, inside, problem);
    readOnly.add(path);
  }
  return { ok: true, readOnly: [...readOnly] };
}

/** The read-only mounts and placeholders for trusted paths and for the rule folders of the workspace. */
export function trustedIn(
  {
    trusted,
    policyFolders,
  }: { readonly trusted: readonly TrustedPath[]; readonly policyFolders: readonly string[] },
  kindAt: (path: string) => ReturnType<typeof kindOf>,
): { readonly readOnly: string[]; readonly placeholders: Placeholder[]; readonly notEnforced: string[] } {
  const links = policyFolders.filter((path) => kindAt(path) !== undefined && realPath(path) !== path);
  const folders = policyFolders.filter((path) => !links.includes(path));
  return {
    readOnly: [...trusted.map(({ path }) => path).filter((path) => kindAt(path) !== undefined), ...folders],
    placeholders: folders
      .filter((path) => kindAt(path) === undefined)
      .map((path) => ({ path, kind: "directory" })),
    notEnforced: links.map(
      (path) => `the rules in ${shownPath(path)}: it is a link, which cannot be protected`,
    ),
  };
}

/** Why the path cannot be mounted read-only. */
function protectionProblem(path: string, root: string, writable: readonly string[]): string | undefined {
  if (isWithin(root, path)) return "a command could change them";
  const project = projectOf(path);
  if (project !== undefined && writable.some((other) => isWithin(project, other))) {
    return `a command could change them, and protecting them would break npm in ${shownPath(project)}`;
  }
  return undefined;
}

/** The project whose node_modules contains the path. The folder of global packages has no package.json next to it. */
function projectOf(path: string): string | undefined {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (basename(at) === "node_modules" && existsSync(fsPath(join(dirname(at), "package.json"))))
      return dirname(at);
  }
  return undefined;
}

function refused(path: string, role: string, root: string, problem: string): SandboxRefusal {
  return {
    ok: false,
    why: `nacre's own files would be writable: ${shownPath(path)} ${role}, and is in ${shownPath(root)}, which commands can write: ${problem}`,
    fix: "Install nacre outside the workspace and the writable paths, for example with npm install -g nacre, and start it from there; or remove the path from writable.",
  };
}

/** The trusted files of this process. `bash` runs the keeper. */
export function ownProgram(bash: string | undefined): TrustedPath[] {
  const found: TrustedPath[] = [];
  const root = realPath(fileURLToPath(new URL("../../", import.meta.url)));
  found.push({ path: root, role: "is the package nacre runs from" });
  found.push(...dependenciesOf(root), ...launchLinks(root), ...programOf(process.execPath, "Node"));
  for (const file of loadedFiles()) found.push({ path: file, role: "is loaded into this process" });
  if (bash !== undefined) found.push(...programOf(bash, "bash"));
  return found;
}

/** The dependencies as Node resolves them from the package, nearest first. For a link, both its folder and its target. */
function dependenciesOf(root: string): TrustedPath[] {
  const manifest = attempt(() => JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as unknown);
  const { dependencies } = (manifest ?? {}) as { readonly dependencies?: Readonly<Record<string, string>> };
  return Object.keys(dependencies ?? {}).flatMap((name) => {
    const role = `is a dependency of nacre (${name})`;
    const nearer: string[] = [];
    for (let at = root; ; at = dirname(at)) {
      const folder = join(at, "node_modules");
      const path = join(folder, name);
      if (basename(at) !== "node_modules" && kindOf(path) !== undefined) {
        const real = realPath(path);
        // Protecting the folder prevents replacing a link, and adding the package to a nearer folder.
        const folders = real === path ? nearer : [...nearer, dirname(path)];
        return [{ path: real, role }, ...folders.map((each) => ({ path: realPath(each), role }))];
      }
      if (basename(at) !== "node_modules" && kindOf(folder) !== undefined && !isWithin(folder, root)) {
        nearer.push(folder);
      }
      if (at === dirname(at)) return [];
    }
  });
}

/** The folders of links through which the person, an MCP client or an importing program starts nacre. */
function launchLinks(root: string): TrustedPath[] {
  const script = process.argv[1];
  if (script === undefined) return [];
  const isOwn = isWithin(realPath(script), root);
  const ways = isOwn ? [script] : importsFrom(dirname(script), root);
  return ways
    .flatMap(linkHolders)
    .filter((folder) => !isWithin(folder, root))
    .map((path) => ({ path, role: "holds a link that starts nacre" }));
}

/** The link in node_modules through which a program in this folder imports the package. */
function importsFrom(folder: string, root: string): string[] {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules/nacre");
    if (kindOf(path) !== undefined && realPath(path) === root) return [path];
    if (at === dirname(at)) return [];
  }
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

/** Programs and libraries mapped into this process: a change of their files changes its memory. */
function loadedFiles(): string[] {
  const maps = attempt(() => readFileSync("/proc/self/maps", "utf8")) ?? "";
  const files = maps.matchAll(/^\S+ r.x\S* \S+ \S+ \d+ +(\/.*)$/gm);
  return [...new Set([...files].map(([, file = ""]) => file))].filter((file) => kindOf(file) === "file");
}
