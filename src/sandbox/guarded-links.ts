// Watches symbolic links that are in writable directories and decide what git or a starting program runs. bwrap cannot
// mount over a link, so a command can replace the link. The result of the command then names the link with its old and
// new target.
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { LINKS_MAX_COUNT } from "../support/limits.ts";
import { linkTarget, shownPath } from "../support/path-text.ts";

export interface GuardedLink {
  /** The path of the link; its parent directories are resolved. */
  readonly path: string;
  /** The text of the link. */
  readonly target: string;
  /** What the link is for, as a relative clause: "which git reads (core.hooksPath)". */
  readonly role: string;
}

/** Every link that the kernel follows when it resolves this path, in order. */
export function linksAlong(path: string, role: string): GuardedLink[] {
  const links = new Map<string, GuardedLink>();
  let real = "/";
  let rest = partsOf(resolve(path));
  for (let count = 0; count < LINKS_MAX_COUNT && rest.length > 0; ) {
    const [part = "", ...after] = rest;
    // `..` goes up from the target of a link, not from the link.
    const at = part === ".." ? dirname(real) : join(real, part);
    const target = linkText(at);
    rest = after;
    if (target === undefined) {
      real = at;
      continue;
    }
    count++;
    links.set(at, { path: at, target, role });
    if (target.startsWith("/")) real = "/";
    rest = [...partsOf(target), ...after];
  }
  return [...links.values()];
}

/** The directories of the links along this path. A command that can write such a directory can replace the link. */
export function linkHolders(path: string): string[] {
  return [...new Set(linksAlong(path, "").map((link) => dirname(link.path)))];
}

/** Reports each change of a link once. */
export class LinkWatch {
  readonly #links: readonly GuardedLink[];
  readonly #reported = new Map<string, string | undefined>();

  constructor(links: readonly GuardedLink[]) {
    this.#links = [...new Map(links.map((link) => [link.path, link])).values()];
    for (const { path, target } of this.#links) this.#reported.set(path, target);
  }

  /** Remarks on the links that changed since the last call. */
  remarks(): string[] {
    return this.#links.flatMap((link) => {
      const now = linkText(link.path);
      if (now === this.#reported.get(link.path)) return [];
      this.#reported.set(link.path, now);
      return now === link.target ? [] : [changeRemark(link, now)];
    });
  }
}

function changeRemark({ path, target, role }: GuardedLink, now: string | undefined): string {
  const change =
    now === undefined
      ? "was removed or is no longer a link"
      : `now points to ${JSON.stringify(shownPath(now))}`;
  const link = shownPath(path);
  return `changed link: ${link}, ${role}, pointed to ${JSON.stringify(shownPath(target))} and ${change}. A sandbox cannot prevent a command from replacing a link, and programs outside the sandbox follow the link. Inspect ${link}, or restore the link, before you use it outside the sandbox.`;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function linkText(path: string): string | undefined {
  return attempt(() => linkTarget(path));
}
