// A remote end on this machine: a command link with its own home and state root. Its client program is a script that
// records its PID, so that a test can cut the link.
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { attempt } from "../../src/support/attempt.ts";
import { eventually } from "../fixtures/eventually.ts";
import { isAlive } from "../fixtures/processes.ts";

export interface RemotePlace {
  readonly url: string;
  readonly dir: string;
  /** The working directory of commands. */
  readonly work: string;
  readonly state: string;
  readonly env: NodeJS.ProcessEnv;
  /** The running client programs, oldest first. */
  links(): number[];
  daemons(): number[];
  /** Ends the daemon, if there is one. */
  end(): Promise<void>;
}

const CLIENT = `#!/bin/bash
dir=$1; shift
echo $$ >>"$dir/links"
cd "$dir/work"
exec env -i PATH="$PATH" HOME="$dir/home" NACRE_HOME="$dir/state" "$@"
`;

/** Returns a function that creates a place in a new directory. Ends the daemons of all places after the last test. */
export function usePlaces(directory: () => string): () => RemotePlace {
  const places: RemotePlace[] = [];
  afterAll(async () => {
    await Promise.all(places.map((place) => place.end()));
  });
  return () => {
    const place = remotePlace(directory());
    places.push(place);
    return place;
  };
}

export function remotePlace(dir: string): RemotePlace {
  for (const name of ["home", "work"]) mkdirSync(join(dir, name));
  const client = join(dir, "client.sh");
  writeFileSync(client, CLIENT);
  chmodSync(client, 0o755);
  writeFileSync(join(dir, "links"), "");
  const state = join(dir, "state");
  return {
    url: `command:${JSON.stringify([client, dir])}`,
    dir,
    work: join(dir, "work"),
    state,
    env: { PATH: process.env["PATH"], HOME: join(dir, "home"), NACRE_HOME: join(dir, "local-state") },
    links: () =>
      readFileSync(join(dir, "links"), "utf8")
        .trim()
        .split("\n")
        .map(Number)
        .filter((pid) => pid > 0 && isAlive(pid)),
    daemons: () => daemonsOf(state),
    end: async () => await endDaemons(state),
  };
}

/** The daemons that serve this state root. */
function daemonsOf(state: string): number[] {
  const serve = join(state, "serve");
  const names = attempt(() => readdirSync(serve)) ?? [];
  return names
    .filter((name) => name.endsWith(".lock"))
    .map((name) => Number(attempt(() => readlinkSync(join(serve, name)))?.split("-")[0] ?? 0))
    .filter((pid) => pid > 0 && isAlive(pid));
}

export async function endDaemons(state: string): Promise<void> {
  for (const pid of daemonsOf(state)) process.kill(pid, "SIGTERM");
  await eventually(() => {
    if (daemonsOf(state).length > 0) throw new Error("the daemon still runs");
  });
}
