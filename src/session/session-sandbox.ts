// The sandbox of a session. The session's bashes run in it, one at a time, so jobs, /tmp and the network outlive a bash
// that exits. The supervisor (engine/supervisor.sh) starts the bashes. The rest of session/ treats each of these bashes
// like one without a sandbox: each has a script channel and a PID, and the sandbox reports when it ends.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sizeOf } from "../engine/cursor.ts";
import { type ExitRecord, preallocateEndRecord } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { FifoDir } from "../engine/fifo-dir.ts";
import type { ShellMeta } from "../engine/meta.ts";
import { openPipe } from "../engine/process-pipe.ts";
import { childrenOf, childWithInnerPid, readStat } from "../engine/process-table.ts";
import { directoryField, encodeFields } from "../engine/protocol.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import type { Confiner } from "../shell/confiner.ts";
import { scratchOf } from "../shell/scratch.ts";
import { ShellProcess } from "../shell/shell-process.ts";
import { SANDBOX_FILES_COUNT } from "../support/limits.ts";
import { openReports, type ReportFifo, ScriptChannel } from "./bash-pipes.ts";
import type { Report, ReportReader } from "./session-reports.ts";

export interface SessionSandboxOptions {
  readonly engine: Engine;
  readonly confiner: Confiner;
  readonly workspace: string;
  readonly workingDir: string;
  readonly capBytes: number;
  readonly meta: (id: string) => ShellMeta;
  readonly reader: ReportReader;
  readonly onEnd: (shell: ShellProcess) => void;
}

/** A bash that reads its script from this process. */
export interface BashProcess {
  readonly started: StartedShell;
  /** undefined if bash died before this process could open its stdin. */
  readonly channel: ScriptChannel | undefined;
  /** New remarks, since the last call, about the sandbox and the limits of bash. */
  readonly takeRemarks: () => string[];
  /** The outer PID of a saver, from the PID that bash reports; undefined if the saver has ended. */
  readonly pidOf: (pid: number) => number | undefined;
}

interface SandboxParts extends Omit<BashProcess, "pidOf"> {
  readonly fifoDir: FifoDir;
  readonly reports: ReportFifo;
  readonly shell: ShellProcess;
}

export class SessionSandbox {
  readonly fifoDir: FifoDir;
  readonly shell: ShellProcess;
  readonly #parts: SandboxParts;
  /** For each bash that is starting, by token: the function that receives its PID, or 0 if it failed to start. */
  readonly #forks = new Map<string, (pid: number) => void>();
  readonly #onEnds = new Set<(record: ExitRecord) => void>();
  #count = 0;
  #record: ExitRecord | undefined;
  #isEnding = false;

  private constructor(parts: SandboxParts) {
    this.#parts = parts;
    this.fifoDir = parts.fifoDir;
    this.shell = parts.shell;
  }

  static async open(options: SessionSandboxOptions): Promise<SessionSandbox> {
    const { engine, confiner, workspace, workingDir, capBytes } = options;
    const fifoDir = await engine.openFifoDir();
    let sandbox: SessionSandbox | undefined;
    let channel: ScriptChannel | undefined;
    try {
      const confined = await confiner.forSession({ workspace, workingDir }, fifoDir);
      const { scriptFd, ...started } = await engine.start({
        command: "",
        session: true,
        workingDir,
        variables: {},
        capBytes,
        streams: "split",
        startScript: confined.startScript,
        meta: (id) => ({ ...options.meta(id), ...confined.meta() }),
        onExit: (record) => sandbox?.conclude(record),
      });
      channel = scriptFd === undefined ? undefined : new ScriptChannel(scriptFd);
      const reports = openReports(started, options.reader);
      const shell = new ShellProcess({ processes: engine, started, command: "bash", onEnd: options.onEnd });
      const { takeRemarks } = confined;
      sandbox = new SessionSandbox({ fifoDir, started, channel, reports, shell, takeRemarks });
      return sandbox;
    } catch (error) {
      channel?.close();
      fifoDir.close();
      throw error;
    }
  }

  /** The directory to which the bashes in the sandbox can write. Do not trust anything in it. */
  get scratch(): string {
    return scratchOf(this.#parts.started.files.dir);
  }

  /** Whether the sandbox can start another bash. */
  get isOpen(): boolean {
    return !this.#isEnding && this.shell.isRunning;
  }

  /** Where the output of earlier bashes ends; undefined for the first bash. */
  get earlierOutput() {
    if (this.#count < 2) return undefined;
    const { stdout, stderr } = this.#parts.started.files;
    return {
      to: { stdout: sizeOf(stdout), stderr: sizeOf(stderr) },
      lastFileNumber: this.#count * SANDBOX_FILES_COUNT,
    };
  }

  /** Starts the next bash. `onEnd` is called when the sandbox ends. */
  async start(token: string, workingDir: string, onEnd: (record: ExitRecord) => void): Promise<BashProcess> {
    const { started, takeRemarks } = this.#parts;
    const record = join(started.files.dir, SESSION_NAMES.record(++this.#count));
    preallocateEndRecord(record);
    this.#onEnds.add(onEnd);
    const forked = new Promise<number>((resolve) => this.#forks.set(token, resolve));
    this.#send([token, directoryField(workingDir)]);
    const commandPid = await forked;
    const commandStart = readStat(commandPid)?.startTime ?? "0";
    const fd = openPipe({ pid: commandPid, startTime: commandStart }, 0, "both");
    this.#send(["held"]);
    // If the sandbox ended before the bash began, report that end only after the caller has received the bash.
    const ended = this.#record;
    if (ended) setImmediate(() => onEnd(ended));
    return {
      started: { ...started, files: { ...started.files, record }, commandPid, commandStart },
      channel: fd === undefined ? undefined : new ScriptChannel(fd),
      takeRemarks,
      pidOf: (pid) => {
        // The saver's parent exits at about this time, and the saver becomes a child of the supervisor. So check the
        // supervisor last.
        const parents = [...childrenOf(commandPid), this.#supervisorPid()];
        for (const parent of parents) {
          const found = childWithInnerPid(parent, pid);
          if (found !== undefined) return found;
        }
        return undefined;
      },
    };
  }

  take(report: Report): void {
    if (report.kind !== "forked") return;
    const pid = childWithInnerPid(this.#supervisorPid(), report.innerPid);
    this.#settle(report.token, pid ?? 0);
  }

  /** Ends the sandbox as soon as all processes in it have ended. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#send(["end", ""]);
  }

  /** Call this when the shim has reported the end of the sandbox. */
  conclude(record: ExitRecord): void {
    this.#isEnding = true;
    this.#record = record;
    this.#parts.channel?.close();
    for (const token of this.#forks.keys()) this.#settle(token, 0);
    this.shell.conclude(record);
    for (const onEnd of this.#onEnds) onEnd(record);
    this.#onEnds.clear();
    this.#parts.reports.close();
    this.fifoDir.close();
  }

  #send(fields: readonly string[]): void {
    this.#parts.channel?.send(encodeFields(fields));
  }

  #settle(token: string, pid: number): void {
    this.#forks.get(token)?.(pid);
    this.#forks.delete(token);
  }

  #supervisorPid(): number {
    const status = readFileSync(this.#parts.started.files.sandboxStatus, "latin1");
    return Number(/"child-pid": (\d+)/.exec(status)?.[1] ?? 0);
  }
}
