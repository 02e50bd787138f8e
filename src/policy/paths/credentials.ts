// Which paths contain keys and credentials, by the list that also defines the sandbox's masks.

import { HOME_CREDENTIALS, MACHINE_CREDENTIALS } from "../../support/credential-paths.ts";
import type { ListedPath } from "../../support/listed-paths.ts";
import { hasGlob } from "../shell-model/marks.ts";
import { couldStartWith } from "./path-parts.ts";

/** For parts below a home directory. */
export function isHomeCredential(below: readonly string[]): boolean {
  return isListed(below, HOME_INDEX) && !isPublic(below);
}

/** /etc/shadow and the like. Their class stays `system`: changing them is worse than reading them. */
export function isMachineCredential(path: string): boolean {
  return isListed(path.split("/").slice(1), MACHINE_INDEX);
}

/** Public and often read. The sandbox hides them with the rest of the directory. */
function isPublic([first, second = ""]: readonly string[]): boolean {
  return first === ".ssh" && /(\.pub|known_hosts|^config)$/.test(second);
}

type Paths = readonly (readonly string[])[];

interface Index {
  readonly byFirstPart: ReadonlyMap<string, Paths>;
  readonly all: Paths;
}

/** By the first part: most paths start with no listed part and need no further comparison. */
function indexOf(list: readonly ListedPath[]): Index {
  const all = list.map(({ path }) => path.split("/"));
  const byFirstPart = new Map<string, Paths>();
  for (const path of all) {
    const [first = ""] = path;
    byFirstPart.set(first, [...(byFirstPart.get(first) ?? []), path]);
  }
  return { byFirstPart, all };
}

const HOME_INDEX = indexOf(HOME_CREDENTIALS);
const MACHINE_INDEX = indexOf(MACHINE_CREDENTIALS);

function isListed(parts: readonly string[], { byFirstPart, all }: Index): boolean {
  const [first = ""] = parts;
  const candidates = hasGlob(first) ? all : byFirstPart.get(first);
  return candidates?.some((path) => couldStartWith(parts, path)) ?? false;
}
