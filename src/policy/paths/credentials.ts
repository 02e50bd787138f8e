// Which paths hold keys and credentials, by the list that the sandbox's masks are made from, too.

import {
  type CredentialPath,
  HOME_CREDENTIALS,
  MACHINE_CREDENTIALS,
} from "../../support/credential-paths.ts";
import { hasGlob } from "../shell-model/marks.ts";
import { couldStartWith } from "./path-parts.ts";

/** For parts below a home directory. */
export function isHomeCredential(below: readonly string[]): boolean {
  return isListed(below, HOME_INDEX) && !isPublic(below);
}

/** /etc/shadow and its kind. They keep their class `system`: changing them is worse than reading them. */
export function isMachineCredential(path: string): boolean {
  return isListed(path.split("/").slice(1), MACHINE_INDEX);
}

/** Public by design, and read all the time. The sandbox hides them along with the rest of the directory. */
function isPublic([first, second = ""]: readonly string[]): boolean {
  return first === ".ssh" && /(\.pub|known_hosts|^config)$/.test(second);
}

type Paths = readonly (readonly string[])[];

interface Index {
  readonly byFirstPart: ReadonlyMap<string, Paths>;
  readonly all: Paths;
}

/** By the first part: most paths begin with none that is listed, and need no further look. */
function indexOf(list: readonly CredentialPath[]): Index {
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
