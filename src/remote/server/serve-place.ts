// The paths of a build's daemon in the private state root: socket, lock and log. Containers or machines can share a
// state root. So the names depend on the boot id and the PID namespace: a relay must not connect to a daemon in another
// container or on another machine.
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { defaultStateRoot, ROOT_NAMES, SERVE_NAMES, StateRoot } from "../../engine/state-dir.ts";
import { attempt } from "../../support/attempt.ts";
import { makeDirs } from "../../support/make-dirs.ts";

export interface ServePlace {
  readonly directory: string;
  readonly socketName: string;
  readonly socket: string;
  readonly lock: string;
  readonly log: string;
}

/** Creates the directory. Throws an error that explains why the state root cannot be used. */
export function servePlace(buildHash: string): ServePlace {
  const root = new StateRoot(defaultStateRoot());
  root.ensure();
  const directory = join(root.path, ROOT_NAMES.serve);
  makeDirs(directory);
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")) ?? "";
  const space = attempt(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  const name = createHash("sha256").update(`${buildHash}\n${boot}\n${space}`).digest("hex").slice(0, 16);
  const socketName = SERVE_NAMES.socket(name);
  return {
    directory,
    socketName,
    socket: join(directory, socketName),
    lock: join(directory, SERVE_NAMES.lock(name)),
    log: join(directory, SERVE_NAMES.log(name)),
  };
}

/** Calls `use` with a short path of the socket. The kernel limits a socket's path to 107 bytes. */
export function withShortPath<T>(
  { directory, socketName }: ServePlace,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const fd = openSync(directory, "r");
  return use(`/proc/self/fd/${fd}/${socketName}`).finally(() => closeSync(fd));
}
