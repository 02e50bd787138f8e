// Starts a bash for a session: an ordinary slot whose command is a bash that reads its script from us. What
// it is to restore is sent at once; commands may follow without waiting for it.
import { uptime } from "node:os";
import { join } from "node:path";
import type { ExitRecord } from "../engine/end-record.ts";
import type { ShellMeta } from "../engine/meta.ts";
import { thisProcess } from "../engine/process-table.ts";
import { openReports } from "../engine/report-fifo.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { REPORTS_INSIDE } from "../shell/confiner.ts";
import { endShells } from "../shell/kill.ts";
import { wallMs } from "../support/clock.ts";
import { PROFILE_MAX_MS } from "../support/limits.ts";
import { onlyCommand } from "./command-processes.ts";
import { SessionBash } from "./session-bash.ts";
import { adjustMessage, birthMessage, type HarnessPlace, harnessPlace } from "./session-harness.ts";
import { writeScript } from "./session-inheritance.ts";
import type { SessionHouse } from "./session-options.ts";
import { putAsideOf, restoreScript } from "./session-restore.ts";
import { readEnvironmentList, stateFile } from "./session-state.ts";
import type { SessionWorld } from "./session-world.ts";

export interface BirthOptions {
  readonly sessionId: string;
  readonly scope: string;
  readonly nonce: string;
  readonly token: string;
  readonly workingDir: string;
  /** Takes what it reports; in a sandbox its world does. */
  readonly onReportBytes: (bytes: Buffer) => void;
  /** Of the command before. */
  readonly number: number;
  /** The script that restores it, and what its first command is preceded by. */
  readonly state: string | undefined;
  readonly inheritedPrefix: string;
  readonly profile: string | undefined;
  readonly profileTimeoutMs: number | undefined;
  /** The directory that limits count for where nobody named one. */
  readonly workspace: string;
  /** The sandbox it is born in. */
  readonly world: SessionWorld | undefined;
  /** Called before anything is sent to it. */
  readonly onBirth: (bash: SessionBash) => void;
  readonly onEnd: (bash: SessionBash) => void;
}

export async function bearBash(house: SessionHouse, options: BirthOptions): Promise<SessionBash> {
  const { host, capBytes } = house;
  const { nonce, token, number, world } = options;
  let bash: SessionBash | undefined;
  const onExit = (record: ExitRecord) => bash?.conclude(record);
  const { started, look } = world
    ? { started: await world.bear(token, options.workingDir, onExit), look: world.look }
    : await startUnboxed(house, options, onExit);
  const reports = world ? undefined : openReports(started, options.onReportBytes);
  const place = harnessPlace(nonce, token, reports?.path ?? REPORTS_INSIDE);
  const born = new SessionBash({
    host,
    started,
    place,
    reports,
    capBytes,
    world,
    look,
    inheritedPrefix: options.inheritedPrefix,
    putAside: putAsideOf(options.state, nonce),
    inherited: options.state === undefined ? undefined : { state: options.state, number },
    profile: options.profile,
    onEnd: options.onEnd,
    kill: (command) => {
      const target = born.shell.toKill({ kind: "killed", detail: "the session" });
      void endShells(onlyCommand(host, { number: command }, "always"), [target], 0);
    },
  });
  bash = born;
  options.onBirth(born);
  house.watch(born.shell);
  const restoreFrom = join(born.given, SESSION_NAMES.restore(token));
  // In the new directory: the one it was saved in may be swept some day.
  if (options.state !== undefined) {
    const script = restoreScript(options.state, nonce, Object.keys(house.environment.env));
    try {
      writeScript(restoreFrom, script, started.files.dir);
    } catch (error) {
      // The state is still here, for a bash that comes when there is space.
      await born.shell.end({ kind: "killed", detail: "the session" }, 0);
      await born.close();
      throw error;
    }
  }
  const profileEnvPath = join(born.scratch, SESSION_NAMES.profileEnvironment);
  born.send(
    birthMessage(place, {
      restoreFrom: options.state === undefined ? undefined : restoreFrom,
      profile: options.profile,
      profileEnvPath,
      number,
      statePath: stateFile(born.scratch, number),
      disabled: born.putAside.disabled,
    }),
  );
  if (options.profile === undefined) {
    // A sandbox and its first process are forked only now: they must not be taken for what a command left running.
    if (world) await born.birth();
    return born;
  }
  const late = setTimeout(() => {
    born.isOverdue = true;
    void born.shell.end({ kind: "killed", detail: "the session" }, 0);
  }, options.profileTimeoutMs ?? PROFILE_MAX_MS);
  await born.birth();
  clearTimeout(late);
  // One that its profile has ended is told of by whoever finds it dead.
  if (born.isBorn) sanitiseAfter(profileEnvPath, born, place, house, number);
  return born;
}

/** A profile may export what was taken out of the environment for a reason. */
function sanitiseAfter(
  profileEnvPath: string,
  bash: SessionBash,
  place: HarnessPlace,
  house: SessionHouse,
  number: number,
): void {
  const found = readEnvironmentList(profileEnvPath);
  const { env, dropped } = house.sanitise(found);
  const set = Object.fromEntries(Object.entries(env).filter(([name, value]) => found[name] !== value));
  const unset = dropped.map(({ name }) => name).filter((name) => name in found);
  const { putAside } = bash;
  bash.send(
    adjustMessage(place, { set, unset, number, statePath: stateFile(bash.scratch, number), putAside }),
  );
}

/** An ordinary slot. */
async function startUnboxed(
  house: SessionHouse,
  options: BirthOptions,
  onExit: (record: ExitRecord) => void,
): Promise<{ readonly started: StartedShell; readonly look: () => string[] }> {
  const { workspace, workingDir } = options;
  const confined = await house.confiner.forScript({ workspace, workingDir });
  const started = await house.host.start({
    command: "",
    session: true,
    workingDir,
    variables: {},
    capBytes: house.capBytes,
    streams: "split",
    startScript: confined.startScript,
    meta: (id) => ({ ...sessionMeta(id, house, options), ...confined.meta() }),
    onExit,
  });
  return { started, look: confined.takeRemarks };
}

export function sessionMeta(
  id: string,
  { capBytes }: SessionHouse,
  options: Pick<BirthOptions, "workingDir" | "scope" | "sessionId">,
): ShellMeta {
  return {
    version: 1 as const,
    id,
    workingDir: options.workingDir,
    scope: options.scope,
    session: options.sessionId,
    isSessionBash: true,
    createdAt: wallMs(),
    startedUptimeMs: Math.round(uptime() * 1000),
    deadlineMs: null,
    durable: false,
    host: thisProcess(),
    streams: "split" as const,
    capBytes,
  };
}
