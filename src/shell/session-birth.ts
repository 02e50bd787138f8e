// Starts a bash for a session: an ordinary slot whose command is a bash that reads its script from us. What
// it is to restore is sent at once; commands may follow without waiting for it.
import { writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import type { StartedShell } from "../hosts/host.ts";
import type { ReportFifo } from "../hosts/report-fifo.ts";
import { wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { onlyCommand } from "./command-processes.ts";
import { endShells } from "./kill.ts";
import { SessionBash } from "./session-bash.ts";
import { adjustMessage, birthMessage, type HarnessPlace, harnessPlace } from "./session-harness.ts";
import type { SessionHouse } from "./session-options.ts";
import { readEnvironmentList, restoreScript, stateFile } from "./session-state.ts";

export interface BirthOptions {
  readonly sessionId: string;
  readonly scope: string;
  readonly nonce: string;
  readonly token: string;
  readonly workingDir: string;
  readonly reports: ReportFifo;
  /** Of the command before. */
  readonly number: number;
  /** The script that restores it, and what its first command is preceded by. */
  readonly state: string | undefined;
  readonly inheritedPrefix: string;
  readonly profile: string | undefined;
  /** Called before anything is sent to it. */
  readonly onBirth: (bash: SessionBash) => void;
  readonly onEnd: (bash: SessionBash) => void;
}

export async function bearBash(house: SessionHouse, options: BirthOptions): Promise<SessionBash> {
  const { host, capBytes } = house;
  const { nonce, token, reports, number } = options;
  const place = harnessPlace(nonce, token, reports.path);
  if (house.confiner.isSandboxed) {
    throw new NacreError("spawn_failed", "Sessions cannot be sandboxed yet, so nothing was run.");
  }
  let bash: SessionBash | undefined;
  const started = await host.start({
    command: "",
    session: true,
    workingDir: options.workingDir,
    variables: {},
    capBytes,
    streams: "split",
    meta: (id) => metaOf(id, house, options),
    onExit: (record) => bash?.conclude(record),
  });
  const born = new SessionBash({
    host,
    started,
    place,
    reports,
    capBytes,
    inheritedPrefix: options.inheritedPrefix,
    onEnd: options.onEnd,
    kill: (command) => {
      const target = born.shell.toKill({ kind: "killed", detail: "the session" });
      void endShells(onlyCommand(host, command), [target], 0);
    },
  });
  bash = born;
  options.onBirth(born);
  house.watch(born.shell);
  const restoreFrom = join(started.files.dir, "restore");
  // In the new directory: the one it was saved in may be swept some day.
  if (options.state !== undefined) {
    const script = restoreScript(options.state, nonce, Object.keys(house.environment.env));
    writeFileSync(restoreFrom, script, { mode: 0o600, encoding: "latin1" });
  }
  const profileEnvPath = join(started.files.dir, "profile-env");
  born.send(
    birthMessage(place, {
      restoreFrom: options.state === undefined ? undefined : restoreFrom,
      profile: options.profile,
      profileEnvPath,
      number,
      statePath: stateFile(started.files.dir, number),
    }),
  );
  if (options.profile !== undefined) await sanitiseAfter(profileEnvPath, born, place, started, house, number);
  return born;
}

/** A profile may export what was taken out of the environment for a reason. */
async function sanitiseAfter(
  profileEnvPath: string,
  bash: SessionBash,
  place: HarnessPlace,
  started: StartedShell,
  house: SessionHouse,
  number: number,
): Promise<void> {
  await bash.birth();
  const found = readEnvironmentList(profileEnvPath);
  const { env, dropped } = house.sanitise(found);
  const set = Object.fromEntries(Object.entries(env).filter(([name, value]) => found[name] !== value));
  const unset = dropped.map(({ name }) => name).filter((name) => name in found);
  bash.send(adjustMessage(place, { set, unset, number, statePath: stateFile(started.files.dir, number) }));
}

function metaOf(id: string, { host, capBytes }: SessionHouse, options: BirthOptions) {
  return {
    version: 1 as const,
    id,
    workingDir: options.workingDir,
    scope: options.scope,
    session: options.sessionId,
    createdAt: wallMs(),
    startedUptimeMs: Math.round(uptime() * 1000),
    deadlineMs: null,
    durable: false,
    host: host.identity,
    streams: "split" as const,
    capBytes,
  };
}
