// Resolves symbolic links: links that the command itself has created so far, and links on disk, which the caller looks
// up. A path is judged by its own class and by the class of every path that its links lead to.
//
//   resolve(text, cwd, follows)  the path that a word names, then the paths that its links lead to
//     #walk                      part by part, as the kernel does: follows a link before `..` goes up from its target
//       #targetsAt               created by this command, else on disk (LinksOnDisk)

import { POLICY_LINKS_MAX_COUNT, POLICY_PLACES_MAX_COUNT } from "../../support/limits.ts";
import { couldBe } from "../paths/path-parts.ts";
import { asPath, locate, partsOf, type ResolvedPath, type Where } from "../paths/paths.ts";
import type { Budget } from "./budget.ts";
import { couldMatch } from "./glob.ts";
import type { LinkReader } from "./link-reader.ts";
import { LinksOnDisk } from "./links-on-disk.ts";
import { hasGlob, isCertain, UNKNOWN } from "./marks.ts";

export class Links {
  /** The links that the command created, by absolute path. A link that several branches create has several targets. */
  readonly #made = new Map<string, MadeLink>();
  /** Cached until the command creates another link: effects and flows resolve the same words. */
  readonly #followed = new Map<string, readonly string[]>();
  readonly #where: Where;
  readonly #budget: Budget;
  readonly #disk: LinksOnDisk | null;

  /** @param cwd the directory the command starts in */
  constructor(where: Where, cwd: string, budget: Budget, reader?: LinkReader) {
    this.#where = where;
    this.#budget = budget;
    this.#disk = reader ? new LinksOnDisk(reader, where, cwd, budget) : null;
  }

  /** Records a link that the command creates. */
  add(path: string, target: string): void {
    // Ignore a link to itself or below itself: no path resolves through it.
    if (`${target}/`.startsWith(`${path}/`)) return;
    this.#followed.clear();
    const known = this.#made.get(path);
    if (known) known.targets.add(target);
    else this.#made.set(path, { parts: partsOf(path), targets: new Set([target]) });
  }

  /** The targets of the link at an absolute path; empty if no link is known. */
  at(path: string): readonly string[] {
    if (this.#isEmpty) return NONE;
    const parts = partsOf(path);
    return this.#targetsAt(parts).map((target) =>
      target.startsWith("/") ? target : `${asPath(parts.slice(0, -1))}/${target}`,
    );
  }

  /**
   * The path that a word names, then the paths that its links lead to.
   * @param follows Whether to follow a link in the last part. A link before a slash is always followed.
   */
  resolve(text: string, cwd: string, follows: boolean): readonly ResolvedPath[] {
    const named = locate(text, cwd, this.#where);
    if (this.#isEmpty || named.class === "unknown") return [named];
    const paths = this.followed(text, cwd, follows);
    if (paths.length === 0) return [named];
    return [named, ...paths.map((path) => locate(path, "/", this.#where))];
  }

  /** The paths that a word leads to through links; empty if no part of it is a link. */
  followed(text: string, cwd: string, follows: boolean): readonly string[] {
    if (this.#isEmpty) return NONE;
    const isLast = follows || /(^|\/)\.?$/.test(text);
    const path = text.startsWith("/") ? text : `${cwd}/${text}`;
    const key = isLast ? `${path}/` : path;
    const known = this.#followed.get(key);
    if (known) return known;
    const found = new Set<string>();
    const { start, rest } = this.#entered(partsOf(path));
    this.#walk({ start, rest, count: 0, follows: isLast, found });
    const paths = found.size === 0 ? NONE : [...found];
    this.#followed.set(key, paths);
    return paths;
  }

  get #isEmpty(): boolean {
    return this.#made.size === 0 && this.#disk === null;
  }

  #walk({ start, rest, count, follows, found }: Walking): void {
    this.#budget.spend((1 + rest.length) / PARTS_PER_STEP);
    // A missing directory contains no links. The command may create it and go up again with `..`.
    let certainlyExists = true;
    let at: readonly string[] = start;
    let hasMoved = count > 0;
    for (const [i, part] of rest.entries()) {
      if (part === "..") {
        at = this.#disk?.above(at) ?? at.slice(0, -1);
        certainlyExists = true;
        hasMoved = true;
        continue;
      }
      at = [...at, part];
      if (i === rest.length - 1 && !follows) break;
      const targets = this.#targetsAt(at, certainlyExists, hasMoved);
      if (targets === MISSING) certainlyExists = false;
      if (targets.length === 0) continue;
      for (const target of targets)
        this.#start(target, at, { rest: rest.slice(i + 1), count, follows, found });
      // A pattern may match a link and an ordinary directory.
      if (!hasGlob(part)) return;
    }
    if (count > 0) found.add(this.#disk?.namedAs(at) ?? asPath(at));
  }

  /** Continues at the target of a link. */
  #start(
    target: string,
    link: readonly string[],
    { rest, count, follows, found }: Omit<Walking, "start">,
  ): void {
    if (found.size >= POLICY_PLACES_MAX_COUNT) return;
    if (target === UNKNOWN || count >= POLICY_LINKS_MAX_COUNT) {
      found.add(UNKNOWN);
      return;
    }
    const next = target.startsWith("/")
      ? this.#entered(partsOf(target))
      : { start: link.slice(0, -1), rest: partsOf(target) };
    this.#walk({ start: next.start, rest: [...next.rest, ...rest], count: count + 1, follows, found });
  }

  #entered(parts: readonly string[]): {
    readonly start: readonly string[];
    readonly rest: readonly string[];
  } {
    return this.#disk?.entered(parts) ?? { start: [], rest: parts };
  }

  #targetsAt(at: readonly string[], certainlyExists = true, hasMoved = true): readonly string[] {
    const made = this.#madeAt(at);
    if (this.#disk === null || !certainlyExists) return made;
    // A link that the command created replaces the one on disk; a pattern may match both.
    if (made.length > 0 && !hasGlob(at.at(-1) ?? "")) return made;
    const onDisk = this.#disk.targetsAt(at, hasMoved);
    return made.length > 0 ? [...made, ...(onDisk ?? NONE)] : (onDisk ?? MISSING);
  }

  #madeAt(at: readonly string[]): readonly string[] {
    if (this.#made.size === 0) return NONE;
    this.#budget.spend(this.#made.size / LINKS_PER_STEP);
    const found: string[] = [];
    for (const { parts, targets } of this.#made.values()) {
      if (isSamePath(at, parts)) for (const target of targets) found.push(nameFilledIn(target, parts, at));
    }
    return found;
  }
}

/** Whether two paths, each with or without patterns, may be the same. */
function isSamePath(at: readonly string[], link: readonly string[]): boolean {
  if (at.length !== link.length) return false;
  return link.every((name, i) => {
    const part = at[i] ?? "";
    return part === name || couldBe(part, name) || (!isCertain(name) && couldMatch(name, part));
  });
}

/** Replaces the pattern at the end of a link's target by the name: `ln -s ~/* .` creates a link `x` to each `~/x`. */
function nameFilledIn(target: string, link: readonly string[], at: readonly string[]): string {
  const name = link.at(-1) ?? "";
  const isPattern = !isCertain(name) && target.endsWith(`/${name}`);
  return isPattern ? `${target.slice(0, -name.length)}${at.at(-1) ?? ""}` : target;
}

interface MadeLink {
  readonly parts: readonly string[];
  readonly targets: Set<string>;
}

interface Walking {
  /** The directory reached so far, without `..` and links. */
  readonly start: readonly string[];
  readonly rest: readonly string[];
  /** Number of links followed so far. */
  readonly count: number;
  readonly follows: boolean;
  readonly found: Set<string>;
}

const NONE: readonly never[] = [];
/** No targets, because nothing exists there. */
const MISSING: readonly never[] = [];
const PARTS_PER_STEP = 8;
const LINKS_PER_STEP = 4;
