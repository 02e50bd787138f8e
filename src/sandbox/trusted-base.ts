// nacre's own files: what runs outside of every sandbox and is read from the disk again and again. A command that
// could write them would run there, too. Where they lie in something writable they are bound read-only; where that
// would break the person's own tools, or cannot be done, the sandbox is refused.
//
// What counts: the package with its dependencies (parts of them are loaded when they are first needed), Node with
// what it has loaded, bash, the path nacre was started by, and files that are named in the options.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../support/attempt.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import type { SandboxRefusal } from "./explain.ts";
import { linkHolders } from "./link-holders.ts";
import type { Placeholder } from "./placeholders.ts";
import { isWithin, kindOf, realPath } from "./real-path.ts";

export interface TrustedPath {
  /** Absolute and real. */
  readonly path: string;
  /** What it is to nacre, as the end of a sentence. */
  readonly role: string;
}

/** Those that lie in something writable, to be bound read-only; or why there can be no sandbox. */
export function guardTrusted(
  trusted: readonly TrustedPath[],
  writable: readonly string[],
): { readonly ok: true; readonly readOnly: readonly string[] } | SandboxRefusal {
  const readOnly = new Set<string>();
  for (const { path, role } of trusted) {
    const inside = writable.find((root) => isWithin(path, root) || isWithin(root, path));
    if (inside === undefined) continue;
    const problem = whyNot(path, inside, writable);
    if (problem !== undefined) return refused(path, role, inside, problem);
    readOnly.add(path);
  }
  return { ok: true, readOnly: [...readOnly] };
}

/** What of it is bound read-only in one view, with the rules of the workspace: none can be changed, or made. */
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

/** Why it cannot be bound read-only there. */
function whyNot(path: string, root: string, writable: readonly string[]): string | undefined {
  if (isWithin(root, path)) return "a command could change them";
  const project = projectOf(path);
  if (project !== undefined && writable.some((other) => isWithin(project, other))) {
    return `a command could change them, and protecting them would break npm in ${shownPath(project)}`;
  }
  return undefined;
}

/** The project whose node_modules it lies in. The folder of global packages has no package.json beside it. */
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
    why: `nacre's own files would be writable: ${shownPath(path)} ${role}, and lies in ${shownPath(root)}, which commands can write to: ${problem}`,
    fix: "Install nacre outside of the workspace and the writable paths, for example with npm install -g nacre, and start it from there; or take the path out of writable.",
  };
}

/** Whatever of this process would be run again. `bash` is the one that runs the keeper. */
export function ownProgram(bash: string | undefined): TrustedPath[] {
  const found: TrustedPath[] = [];
  const root = realPath(fileURLToPath(new URL("../../", import.meta.url)));
  found.push({ path: root, role: "is the package nacre runs from" });
  found.push(...dependenciesOf(root), ...startedBy(root), ...programOf(process.execPath, "Node"));
  for (const file of loadedFiles()) found.push({ path: file, role: "is loaded into this process" });
  if (bash !== undefined) found.push(...programOf(bash, "bash"));
  return found;
}

/** As Node looks them up from the package, nearest first: a link counts as what it is, and as what it leads to. */
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
        // A link could be led elsewhere, and an earlier folder filled: both are closed with the folder.
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

/** Links that the person, an MCP client or an importing program finds nacre by the next time. */
function startedBy(root: string): TrustedPath[] {
  const script = process.argv[1];
  if (script === undefined) return [];
  const isOwn = isWithin(realPath(script), root);
  const ways = isOwn ? [script] : importsFrom(dirname(script), root);
  return ways
    .flatMap(linkHolders)
    .filter((folder) => !isWithin(folder, root))
    .map((path) => ({ path, role: "holds a link nacre is started by" }));
}

/** The package as a program in this folder imports it, where it is found through a link. */
function importsFrom(folder: string, root: string): string[] {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules/nacre");
    if (kindOf(path) !== undefined && realPath(path) === root) return [path];
    if (at === dirname(at)) return [];
  }
}

/** A program with what is installed beside it: its folder, and the libraries of its prefix where it has one of its own. */
function programOf(file: string, name: string): TrustedPath[] {
  const path = realPath(file);
  const folder = dirname(path);
  const role = `is ${name}, which nacre runs outside of the sandbox`;
  const program = { path, role };
  if (basename(folder) !== "bin") return [program];
  return [program, { path: folder, role: `holds ${name}, which nacre runs outside of the sandbox` }];
}

/** Programs and libraries: what is written to their files shows in the memory of this process. */
function loadedFiles(): string[] {
  const maps = attempt(() => readFileSync("/proc/self/maps", "utf8")) ?? "";
  const files = maps.matchAll(/^\S+ r.x\S* \S+ \S+ \d+ +(\/.*)$/gm);
  return [...new Set([...files].map(([, file = ""]) => file))].filter((file) => kindOf(file) === "file");
}
