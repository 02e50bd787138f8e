// A slot on its way from waiting to running a command: what is written to disk before the start, and what this
// process holds open for it until its end.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurableMark } from "./durable-mark.ts";
import type { Beginning, StartedShell, StartPlace, StartPlan } from "./host.ts";
import type { Job } from "./job.ts";
import { JobPipe } from "./job-pipe.ts";
import type { ShellFiles } from "./layout.ts";
import { type ShellMeta, writeMeta } from "./meta.ts";
import type { PidMark } from "./pids-since.ts";
import { ScriptChannel, sessionProgram } from "./script-channel.ts";
import type { Slot } from "./slot-pool.ts";
import { StdinFeed } from "./stdin-feed.ts";

export interface TakenSlotOptions {
  readonly slot: Slot;
  readonly shimStart: string;
  readonly plan: StartPlan;
  readonly bashPath: string;
  readonly supervisorFiles: StartPlace["supervisorFiles"];
}

export class TakenSlot {
  readonly slot: Slot;
  readonly #options: TakenSlotOptions;
  #channel: ScriptChannel | undefined;
  #stdin: StdinFeed | undefined;
  #beginning: Beginning | undefined;

  constructor(options: TakenSlotOptions) {
    this.#options = options;
    this.slot = options.slot;
  }

  /** Puts on disk what must be there before the command begins. If that fails it can still be closed and freed. */
  prepare(): ShellMeta {
    const { slot, shimStart, plan, bashPath, supervisorFiles } = this.#options;
    const { id, files } = slot;
    this.#beginning = plan.begin?.({
      id,
      files,
      holder: { pid: slot.shimPid, startTime: shimStart },
      bashPath,
      supervisorFiles,
    });
    if (this.#beginning) writeBeginning(files, this.#beginning);
    const meta = plan.meta(id);
    const text = plan.session ? sessionProgram(bashPath, meta.session) : plan.command;
    writeFileSync(files.command, text, { mode: 0o600 });
    if (plan.trailer) writeFileSync(files.trailer, "");
    if (meta.durable) writeDurableMark(files.durable, meta);
    writeMeta(files.meta, meta);
    return meta;
  }

  /** Sends it its job; false where it has died. What it reads after that comes through the same pipe. */
  send(job: Job): boolean {
    const { slot, plan } = this.#options;
    const pipe = new JobPipe(slot, plan.session ? "both" : "write");
    try {
      if (!pipe.send(job)) return false;
      const fd = job.stdin === "rest" ? pipe.take() : undefined;
      if (fd === undefined) return true;
      if (plan.session) this.#channel = new ScriptChannel(fd);
      else if (plan.stdin) this.#stdin = new StdinFeed(fd, plan.stdin);
      return true;
    } finally {
      pipe.close();
    }
  }

  /** It has been sent its job. */
  begun(meta: ShellMeta, pidsBefore: PidMark): StartedShell {
    const { slot, shimStart } = this.#options;
    const { commandPid, commandStart } = slot;
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
      pidsBefore,
      loggers: { stdout: slot.outLogger, stderr: slot.errLogger },
      ...(this.#channel ? { channel: this.#channel } : {}),
      ...(this.#beginning ? { free: () => this.free() } : {}),
    };
  }

  /** It has ended, or will never run. */
  close(): void {
    this.#channel?.close();
    this.#stdin?.close();
  }

  /** Nothing of it runs any more: what confined it goes, and may have something to say. */
  free(): void {
    const lines = this.#beginning?.end() ?? [];
    this.#beginning = undefined;
    if (lines.length > 0) writeRemarks(this.slot.files, lines);
  }
}

function writeBeginning({ dir, start }: ShellFiles, { script, files }: Beginning): void {
  for (const { name, content } of files) writeFileSync(join(dir, name), content, { mode: 0o600 });
  writeFileSync(start, script, { mode: 0o600 });
}

function writeRemarks({ remarks }: ShellFiles, lines: readonly string[]): void {
  try {
    writeFileSync(remarks, `${lines.join("\n")}\n`, { mode: 0o600 });
  } catch {
    // The disk is full, say, and its end is on it all the same; or it never ran, and there is nothing left of it.
  }
}
