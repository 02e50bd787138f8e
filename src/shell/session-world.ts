// The sandbox of a session. One bash after another runs in it, so that its jobs, its /tmp and its network outlive a
// bash that exits; the first process in there (keeper/supervisor.sh) starts them. To the rest each is a bash like any
// other: it has a channel and a pid, and its end is reported.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host, StartedShell } from "../hosts/host.ts";
import { childWithInnerPid, readStat } from "../hosts/process-table.ts";
import type { ReportFifo } from "../hosts/report-fifo.ts";
import type { Room } from "../hosts/room.ts";
import { sizeOf } from "../spool/cursor.ts";
import { type ExitRecord, preallocateEndRecord } from "../spool/end-record.ts";
import type { ShellMeta } from "../spool/meta.ts";
import { WORLD_FILES_COUNT } from "../support/limits.ts";
import type { Confiner } from "./confiner.ts";
import { scratchOf } from "./scratch.ts";
import type { Report } from "./session-reports.ts";
import { ShellProcess } from "./shell-process.ts";

export interface WorldOptions {
  readonly host: Host;
  readonly confiner: Confiner;
  readonly workspace: string;
  readonly workingDir: string;
  readonly capBytes: number;
  /** For lists of shells. */
  readonly title: string;
  readonly meta: (id: string) => ShellMeta;
  readonly onReportBytes: (bytes: Buffer) => void;
  readonly onEnd: (shell: ShellProcess) => void;
}

export class SessionWorld {
  readonly room: Room;
  readonly reports: ReportFifo;
  readonly shell: ShellProcess;
  /** Remarks on what has happened in it since the last look. */
  readonly look: () => string[];
  readonly #slot: StartedShell;
  readonly #pids = new Map<string, number>();
  readonly #bashes = new Set<(record: ExitRecord) => void>();
  #count = 0;
  #isEnding = false;

  private constructor(
    room: Room,
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
    const room = await host.openRoom();
    const reports = await room.openReports(options.onReportBytes);
    let world: SessionWorld | undefined;
    try {
      const confined = await confiner.forSession({ workspace, workingDir }, { room, reports });
      const slot = await host.start({
        command: options.title,
        workingDir,
        variables: {},
        capBytes: options.capBytes,
        streams: "split",
        begin: confined.begin,
        meta: (id) => ({ ...options.meta(id), ...confined.meta() }),
        onExit: (record) => world?.conclude(record),
      });
      const shell = new ShellProcess({ host, started: slot, command: "bash", onEnd: options.onEnd });
      world = new SessionWorld(room, reports, slot, shell, confined.look);
      return world;
    } catch (error) {
      reports.close();
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
    const channel = await this.room.openScript();
    const record = join(this.#slot.files.dir, `record.${++this.#count}`);
    preallocateEndRecord(record);
    this.#bashes.add(onOver);
    this.room.tell([token, channel.path, workingDir]);
    const pidOf = () => this.#pids.get(token) ?? 0;
    return {
      ...this.#slot,
      files: { ...this.#slot.files, record },
      channel,
      get commandPid() {
        return pidOf();
      },
      get commandStart() {
        return readStat(pidOf())?.startTime ?? "0";
      },
    };
  }

  take(report: Report): void {
    if (report.kind !== "forked") return;
    const pid = childWithInnerPid(this.#supervisorPid(), report.innerPid);
    if (pid !== undefined) this.#pids.set(report.token, pid);
  }

  /** When its bash and everything else in it has ended, it goes. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.room.tell(["end", "", ""]);
  }

  /** The shim has told that it is over. */
  conclude(record: ExitRecord): void {
    this.#isEnding = true;
    this.shell.conclude(record);
    for (const tell of this.#bashes) tell(record);
    this.#bashes.clear();
    this.reports.close();
    this.room.close();
  }

  #supervisorPid(): number {
    const status = readFileSync(this.#slot.files.sandboxStatus, "latin1");
    return Number(/"child-pid": (\d+)/.exec(status)?.[1] ?? 0);
  }
}
