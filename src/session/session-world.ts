// The sandbox of a session. One bash after another runs in it, so that its jobs, its /tmp and its network outlive a
// bash that exits; the first process in there (engine/supervisor.sh) starts them. To the rest each is a bash like any
// other: it has a channel and a pid, and its end is reported.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sizeOf } from "../engine/cursor.ts";
import { type ExitRecord, preallocateEndRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { FifoDir } from "../engine/fifo-dir.ts";
import type { ShellMeta } from "../engine/meta.ts";
import { openPipe } from "../engine/process-pipe.ts";
import { childWithInnerPid, readStat } from "../engine/process-table.ts";
import { directoryField, encodeFields } from "../engine/protocol.ts";
import { openReports, type ReportFifo } from "../engine/report-fifo.ts";
import { ScriptChannel } from "../engine/script-channel.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import type { Confiner } from "../shell/confiner.ts";
import { scratchOf } from "../shell/scratch.ts";
import { ShellProcess } from "../shell/shell-process.ts";
import { WORLD_FILES_COUNT } from "../support/limits.ts";
import type { Report } from "./session-reports.ts";

export interface WorldOptions {
  readonly host: Engine;
  readonly confiner: Confiner;
  readonly workspace: string;
  readonly workingDir: string;
  readonly capBytes: number;
  readonly meta: (id: string) => ShellMeta;
  readonly onReportBytes: (bytes: Buffer) => void;
  readonly onEnd: (shell: ShellProcess) => void;
}

export class SessionWorld {
  readonly room: FifoDir;
  readonly reports: ReportFifo;
  readonly shell: ShellProcess;
  /** Remarks on what has happened in it since the last look. */
  readonly look: () => string[];
  readonly #slot: StartedShell;
  /** By token: who waits for the pid of a bash, 0 where none came of it. */
  readonly #forks = new Map<string, (pid: number) => void>();
  readonly #bashes = new Set<(record: ExitRecord) => void>();
  #count = 0;
  #over: ExitRecord | undefined;
  #isEnding = false;

  private constructor(
    room: FifoDir,
    reports: ReportFifo,
    slot: StartedShell,
    shell: ShellProcess,
    look: () => string[],
  ) {
    this.look = look;
    this.room = room;
    this.reports = reports;
    this.#slot = slot;
    this.shell = shell;
  }

  static async open(options: WorldOptions): Promise<SessionWorld> {
    const { host, confiner, workspace, workingDir } = options;
    const room = await host.openFifoDir();
    let world: SessionWorld | undefined;
    try {
      const confined = await confiner.forSession({ workspace, workingDir }, room);
      const slot = await host.start({
        command: "",
        session: true,
        workingDir,
        variables: {},
        capBytes: options.capBytes,
        streams: "split",
        startScript: confined.startScript,
        meta: (id) => ({ ...options.meta(id), ...confined.meta() }),
        onExit: (record) => world?.conclude(record),
      });
      const reports = openReports(slot, options.onReportBytes);
      const shell = new ShellProcess({
        processes: host,
        started: slot,
        command: "bash",
        onEnd: options.onEnd,
      });
      world = new SessionWorld(room, reports, slot, shell, confined.takeRemarks);
      return world;
    } catch (error) {
      room.close();
      throw error;
    }
  }

  /** Where its bashes can write, and we look. */
  get scratch(): string {
    return scratchOf(this.#slot.files.dir);
  }

  /** It takes another bash. */
  get isOpen(): boolean {
    return !this.#isEnding && this.shell.isRunning;
  }

  /** The part of the output that is of bashes before, for the second one and those after it. */
  get earlierOutput() {
    if (this.#count < 2) return undefined;
    const { stdout, stderr } = this.#slot.files;
    return { to: { stdout: sizeOf(stdout), stderr: sizeOf(stderr) }, files: this.#count * WORLD_FILES_COUNT };
  }

  /** Starts the next bash; `onOver` hears of the end of it all. */
  async bear(token: string, workingDir: string, onOver: (record: ExitRecord) => void): Promise<StartedShell> {
    const record = join(this.#slot.files.dir, SESSION_NAMES.record(++this.#count));
    preallocateEndRecord(record);
    this.#bashes.add(onOver);
    const forked = new Promise<number>((resolve) => this.#forks.set(token, resolve));
    this.#tell([token, directoryField(workingDir)]);
    const commandPid = await forked;
    const commandStart = readStat(commandPid)?.startTime ?? "0";
    const fd = openPipe({ pid: commandPid, startTime: commandStart }, 0, "both");
    this.#tell(["held"]);
    // It was over before it had begun: its caller hears of it when it has it.
    const over = this.#over;
    if (over) setImmediate(() => onOver(over));
    const { channel: _, ...slot } = this.#slot;
    return {
      ...slot,
      files: { ...slot.files, record },
      ...(fd === undefined ? {} : { channel: new ScriptChannel(fd) }),
      commandPid,
      commandStart,
    };
  }

  take(report: Report): void {
    if (report.kind !== "forked") return;
    const pid = childWithInnerPid(this.#supervisorPid(), report.innerPid);
    this.#settle(report.token, pid ?? 0);
  }

  /** When its bash and everything else in it has ended, it goes. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#tell(["end", ""]);
  }

  /** The shim has told that it is over. */
  conclude(record: ExitRecord): void {
    this.#isEnding = true;
    this.#over = record;
    for (const token of this.#forks.keys()) this.#settle(token, 0);
    this.shell.conclude(record);
    for (const tell of this.#bashes) tell(record);
    this.#bashes.clear();
    this.reports.close();
    this.room.close();
  }

  #tell(fields: readonly string[]): void {
    this.#slot.channel?.send(encodeFields(fields));
  }

  #settle(token: string, pid: number): void {
    this.#forks.get(token)?.(pid);
    this.#forks.delete(token);
  }

  #supervisorPid(): number {
    const status = readFileSync(this.#slot.files.sandboxStatus, "latin1");
    return Number(/"child-pid": (\d+)/.exec(status)?.[1] ?? 0);
  }
}
