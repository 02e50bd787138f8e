// Recognizes paths with keys and credentials, using the list that also defines the sandbox's masks.

import { HOME_CREDENTIALS, MACHINE_CREDENTIALS, STATE_CREDENTIALS } from "../../support/credential-paths.ts";
import { PathIndex } from "./path-index.ts";
import { couldBe } from "./path-parts.ts";

/** @param below The parts of the path below a home directory. */
export function isHomeCredential(below: readonly string[]): boolean {
  return HOME_INDEX.couldContain(below) && !isPublic(below);
}

/**
 * Whether the path is a credential of the machine, such as /etc/shadow. The class of such a path stays `system`,
 * because changing it is worse than reading it.
 */
export function isMachineCredential(path: string): boolean {
  return MACHINE_INDEX.couldContain(path.split("/").slice(1));
}

/**
 * Whether the path is a state root, or contains approval requests or the token of the page. The class of such a path
 * stays `policy`, because changing it is worse than reading it.
 *
 * @param below The parts of the path below the state root.
 */
export function isStateCredential([first]: readonly string[]): boolean {
  return first === undefined || STATE_CREDENTIALS.some((name) => couldBe(first, name));
}

/**
 * Whether the file is public and often read by commands. The sandbox hides such files with the rest of the directory.
 */
function isPublic([first, second = ""]: readonly string[]): boolean {
  return first === ".ssh" && /(\.pub|known_hosts|^config)$/.test(second);
}

const HOME_INDEX = new PathIndex(HOME_CREDENTIALS.map(({ path }) => path));
const MACHINE_INDEX = new PathIndex(MACHINE_CREDENTIALS.map(({ path }) => path));
