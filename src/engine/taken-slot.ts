// A slot that was taken from the pool to run a command. Owns the files written before the start, and the
// descriptors that this process keeps open until the command ends.
import { closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { attempt } from "../support/attempt.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { writeDurableMark } from "./durable-mark.ts";
import type { ExitRecord } from "./end-record.ts";
import type { Job } from "./job.ts";
import { JobPipe } from "./job-pipe.ts";
import { type ShellMeta, writeMeta } from "./meta.ts";
import type { PidMark } from "./pids-since.ts";
import type { ProcessIdentity } from "./process-table.ts";
import type { Slot } from "./slot-pool.ts";
import type { StartedShell } from "./started-shell.ts";
import type { ShellFiles } from "./state-dir.ts";
import { StdinFeed } from "./stdin-feed.ts";

/** What Engine.start() runs. */
export interface StartPlan {
  readonly command: string;
  /** True for a session: bash reads its script from its stdin, and `command` is unused. */
  readonly session?: boolean;
  /** An absolute path. The caller has checked that this is a directory and that it can be entered. */
  readonly workingDir: string;
  /** Added to the engine's base environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** True for a terminal: its input is a pipe that hosts open through /proc (process-pipe.ts). */
  readonly isTerminal?: boolean;
  /** The command's stdin. @default empty */
  readonly stdin?: Readable | undefined;
  readonly capBytes: number;
  readonly streams: "split" | "merged";
  /** Whether the shim appends a line about the end to stdout's file. */
  readonly trailer?: boolean;
  /** Confines the command. Called before `meta`. */
  readonly startScript?: ((context: StartContext) => StartScript) | undefined;
  readonly meta: (id: string) => ShellMeta;
  /** Called once, when the exit record is on disk. */
  readonly onExit: (record: ExitRecord) => void;
}

/** The slot that a start script is for. */
export interface StartContext {
  readonly id: string;
  readonly files: ShellFiles;
  /** The shim, which outlives the command. */
  readonly holder: ProcessIdentity;
  readonly bashPath: string;
  /** The first program of a sandboxed session, then the files it reads. */
  readonly supervisorFiles: readonly [string, ...string[]];
}

/** A script that the waiting bash sources before the command. The script may replace that bash with a sandbox. */
export interface StartScript {
  readonly script: string;
  /** Written to the shell's directory. */
  readonly files: readonly { readonly name: string; readonly content: Buffer }[];
  /** Called once, after the command's end. Returns remarks about the end. */
  end(): string[];
}

export interface TakenSlotOptions {
  readonly slot: Slot;
  readonly shimStart: string;
  readonly plan: StartPlan;
  readonly bashPath: string;
  readonly supervisorFiles: StartContext["supervisorFiles"];
}

export class TakenSlot {
  readonly slot: Slot;
  readonly #options: TakenSlotOptions;
  /** The script pipe of a session's bash, until the shell has started. */
  #scriptFd: number | undefined;
  #stdin: StdinFeed | undefined;
  #startScript: StartScript | undefined;

  constructor(options: TakenSlotOptions) {
    this.#options = options;
    this.slot = options.slot;
  }

  /** Writes all files that the command needs. If this throws, the caller can still close and free the slot. */
  prepare(): ShellMeta {
    const { slot, shimStart, plan, bashPath, supervisorFiles } = this.#options;
    const { id, files } = slot;
    const holder = { pid: slot.shimPid, startTime: shimStart };
    this.#startScript = plan.startScript?.({ id, files, holder, bashPath, supervisorFiles });
    if (this.#startScript) writeStartScript(files, this.#startScript);
    const meta = plan.meta(id);
    const text = plan.session ? sessionProgram(bashPath, meta.session) : plan.command;
    writeFileSync(files.command, text, { mode: 0o600 });
    if (plan.trailer) writeFileSync(files.trailer, "");
    if (meta.durable) writeDurableMark(files.durable, meta);
    writeMeta(files.meta, meta);
    return meta;
  }

  /** Sends the job. The command's stdin follows through the same pipe. Returns false if the slot has died. */
  send(job: Job): boolean {
    const { slot, plan } = this.#options;
    const pipe = new JobPipe(slot, plan.session ? "both" : "write");
    try {
      if (!pipe.send(job)) return false;
      const fd = job.stdin === "rest" ? pipe.take() : undefined;
      if (fd === undefined) return true;
      if (plan.session) this.#scriptFd = fd;
      else if (plan.stdin) this.#stdin = new StdinFeed(fd, plan.stdin);
      return true;
    } finally {
      pipe.close();
    }
  }

  /** Call after send(). */
  begun(meta: ShellMeta, pidsBefore: PidMark): StartedShell {
    const { slot, shimStart } = this.#options;
    const { commandPid, commandStart } = slot;
    const scriptFd = this.#scriptFd;
    // From now on, the session closes this descriptor.
    this.#scriptFd = undefined;
    return {
      id: slot.id,
      files: slot.files,
      meta,
      shimPid: slot.shimPid,
      shimStart,
      commandPid,
      commandStart,
      ...(meta.confinement?.driver === "bubblewrap"
        ? { sandbox: { pid: commandPid, startTime: commandStart } }
        : {}),
      tag: slot.tag,
      key: slot.key,
      pidsBefore,
      loggers: { stdout: slot.outLogger, stderr: slot.errLogger },
      ...(scriptFd === undefined ? {} : { scriptFd }),
      ...(this.#startScript ? { free: () => this.free() } : {}),
    };
  }

  /** Call this when the command has ended, or will never run. */
  close(): void {
    if (this.#scriptFd !== undefined) closeSync(this.#scriptFd);
    this.#scriptFd = undefined;
    this.#stdin?.close();
  }

  /**
   * Call this when no process of the command is left. Removes the command's sandbox and writes the remarks about
   * the end.
   */
  free(): void {
    const remarks = this.#startScript?.end() ?? [];
    this.#startScript = undefined;
    if (remarks.length === 0) return;
    // Ignore a failure: the disk may be full, or the command never ran and its directory is gone.
    attempt(() => writeFileSync(this.slot.files.remarks, `${remarks.join("\n")}\n`, { mode: 0o600 }));
  }
}

/** The command of a session's slot: it becomes a bash that reads its script from its stdin. */
function sessionProgram(bashPath: string, name: string | null): string {
  const title = `# session ${JSON.stringify(name ?? "")}`;
  return `${title}\nexec -a bash ${shellQuote(bashPath)} --noprofile --norc\n`;
}

function writeStartScript({ dir, start }: ShellFiles, { script, files }: StartScript): void {
  for (const { name, content } of files) writeFileSync(join(dir, name), content, { mode: 0o600 });
  writeFileSync(start, script, { mode: 0o600 });
}
