// Symbolic links on disk below the workspace, the home directory, the directory of the command and the temporary
// directories. Elsewhere the policy takes paths literally: commands need approval to create links there, and a lookup
// on a hanging network mount would block the host process.

import { POLICY_LINKS_MAX_COUNT } from "../../support/limits.ts";
import { couldBe, equals, startsWith } from "../paths/path-parts.ts";
import { asPath, partsOf, type Where } from "../paths/paths.ts";
import type { Budget } from "./budget.ts";
import type { LinkReader } from "./link-reader.ts";
import { hasGlob, isCertain, unmarked } from "./marks.ts";

/** A directory below which links are looked up. */
interface Base {
  /** The parts of the directory's name, as the name is written in paths. */
  readonly named: readonly string[];
  /** The parts of the directory's name after links are resolved; null until first needed. */
  real: readonly string[] | null;
}

const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"].map(partsOf);

export class LinksOnDisk {
  readonly #reader: LinkReader;
  readonly #budget: Budget;
  /** A cache of the reader's answers, because the paths in a script share most of their parts. */
  readonly #known = new Map<string, string | null | undefined>();
  readonly #where: Where;
  readonly #cwd: string;
  #found: readonly Base[] | null = null;

  constructor(reader: LinkReader, where: Where, cwd: string, budget: Budget) {
    this.#reader = reader;
    this.#where = where;
    this.#cwd = cwd;
    this.#budget = budget;
  }

  /** The bases, longest name first. Created when the first path is resolved, because many commands name no path. */
  get #bases(): readonly Base[] {
    this.#found ??= basesOf(this.#where, partsOf(this.#cwd));
    return this.#found;
  }

  /** The base that an absolute path begins with, and the parts below it. */
  entered(parts: readonly string[]): { readonly start: readonly string[]; readonly rest: readonly string[] } {
    const base = this.#bases.find(({ named }) => startsWith(parts, named));
    if (!base) return { start: [], rest: parts };
    return { start: base.named, rest: parts.slice(base.named.length) };
  }

  /** The directory that `..` leads to. Resolves a base first, because the base's name may be a link. */
  above(at: readonly string[]): readonly string[] {
    const base = this.#bases.find(({ named }) => equals(at, named));
    return (base ? this.#realOf(base) : at).slice(0, -1);
  }

  /** Turns a path without links into a path that starts with the name of a base, as path classes expect. */
  namedAs(parts: readonly string[]): string {
    let best: { readonly named: readonly string[]; readonly length: number } = { named: [], length: 0 };
    for (const base of this.#bases) {
      for (const name of [base.named, this.#realOf(base)]) {
        if (name.length > best.length && startsWith(parts, name))
          best = { named: base.named, length: name.length };
      }
    }
    return asPath([...best.named, ...parts.slice(best.length)]);
  }

  /**
   * The targets of the links that a path names, or null if nothing exists there. Only the last part may be a link.
   * @param hasMoved Whether the path was reached through a link or `..`. If so, it may begin with the link-free name
   * of a base.
   */
  targetsAt(at: readonly string[], hasMoved: boolean): readonly string[] | null {
    const parent = at.slice(0, -1);
    const name = at.at(-1) ?? "";
    if (!parent.every(isCertain) || !this.#isLookedUp(at, hasMoved)) return [];
    if (isCertain(name)) {
      const target = this.#read(asPath(at));
      return target === undefined ? null : target === null ? [] : [target];
    }
    if (!hasGlob(name)) return [];
    const directory = asPath(parent);
    const names = this.#reader.namesIn(directory);
    this.#budget.spend(LISTING_STEPS + names.length);
    return names
      .filter((one) => couldBe(name, one))
      .map((one) => this.#read(`${directory}/${one}`))
      .filter((target) => typeof target === "string");
  }

  #isLookedUp(at: readonly string[], hasMoved: boolean): boolean {
    const isBelow = (base: readonly string[]) => at.length > base.length && startsWith(at, base);
    return (
      this.#bases.some(({ named }) => isBelow(named)) ||
      (hasMoved && this.#bases.some((base) => isBelow(this.#realOf(base))))
    );
  }

  #realOf(base: Base): readonly string[] {
    base.real ??= this.#withoutLinks(base.named);
    return base.real;
  }

  #withoutLinks(path: readonly string[]): readonly string[] {
    let at: readonly string[] = [];
    let rest = path;
    let count = 0;
    for (let [part] = rest; part !== undefined; [part] = rest) {
      rest = rest.slice(1);
      if (part === "..") {
        at = at.slice(0, -1);
        continue;
      }
      const target = this.#read(asPath([...at, part]));
      if (typeof target !== "string") {
        at = [...at, part];
        continue;
      }
      count += 1;
      if (count > POLICY_LINKS_MAX_COUNT) return path;
      if (target.startsWith("/")) at = [];
      rest = [...partsOf(target), ...rest];
    }
    return at;
  }

  #read(path: string): string | null | undefined {
    const known = this.#known.get(path);
    if (known !== undefined || this.#known.has(path)) return known;
    this.#budget.spend();
    const answer = this.#reader.target(path);
    const target = typeof answer === "string" ? unmarked(answer) : answer;
    this.#known.set(path, target);
    return target;
  }
}

function basesOf({ workspaceParts, homeParts }: Where, cwd: readonly string[]): readonly Base[] {
  const own = [workspaceParts, homeParts, ...TEMPORARY].filter(isBase);
  // The session may have reached its directory through a link.
  const isBeside = isBase(cwd) && !own.some((base) => startsWith(cwd, base));
  return [...own, ...(isBeside ? [cwd] : [])]
    .sort((a, b) => b.length - a.length)
    .map((parts) => ({ named: parts, real: null }));
}

/** The root cannot be a base: everything is below it, including the links in /proc and /sys. */
function isBase(parts: readonly string[]): boolean {
  return parts.length > 0 && parts.every(isCertain) && !/^(proc|sys)$/.test(parts[0] ?? "");
}

/** The minimum cost of listing a directory. */
const LISTING_STEPS = 64;
