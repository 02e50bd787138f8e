// Slots: directories with a bash that waits for its job. The pool keeps a few slots of the usual kind ready, because
// a command would otherwise wait for a fork. The pool opens slots of other kinds on request.
import { existsSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import {
  OPENING_SLOTS_MAX_COUNT,
  REFILL_AFTER_DEATH_MS,
  STATE_DIRECTORY_TRIES_MAX_COUNT,
} from "../support/limits.ts";
import { Semaphore } from "../support/semaphore.ts";
import { isFull, shortageOf, systemCode } from "../support/system-error.ts";
import { preallocateEndRecord } from "./end-record.ts";
import type { HostKey } from "./host-key.ts";
import type { Keeper } from "./keeper.ts";
import { KeeperLost } from "./keeper-process.ts";
import { isSameProcess } from "./process-table.ts";
import type { ReadySlot } from "./protocol.ts";
import { makeShellDir, removeShellDir } from "./shell-dir.ts";
import type { ShellFiles, StateRoot } from "./state-dir.ts";
import { newShellId } from "./state-ids.ts";
import { TagNumbers } from "./tag-numbers.ts";

export interface SlotKind {
  readonly capBytes: number;
  readonly streams: "split" | "merged";
  /** The whole environment; undefined for the base environment. */
  readonly environment: readonly string[] | undefined;
}

export interface Slot extends ReadySlot {
  readonly id: string;
  readonly files: ShellFiles;
  readonly tag: bigint | undefined;
  readonly key: HostKey | undefined;
  /** The tag's number within this host's tags. */
  readonly tagNumber: number | undefined;
}

export interface SlotPoolOptions {
  readonly keeper: Keeper;
  readonly root: StateRoot;
  readonly size: number;
  readonly usualKind: SlotKind;
}

export class SlotPool {
  readonly #options: SlotPoolOptions;
  readonly #idle: Slot[] = [];
  readonly #opening = new Semaphore(OPENING_SLOTS_MAX_COUNT);
  #refilling = false;
  #timer: NodeJS.Timeout | undefined;
  #numbers: TagNumbers | undefined;
  #closed = false;

  constructor(options: SlotPoolOptions) {
    this.#options = options;
  }

  /** Returns a slot of this kind: one that is already waiting, or a new one. */
  async take(kind: SlotKind): Promise<Slot> {
    const { usualKind } = this.#options;
    const usual =
      kind.environment === undefined &&
      kind.capBytes === usualKind.capBytes &&
      kind.streams === usualKind.streams;
    const ready = usual ? this.#idle.shift() : undefined;
    return ready ?? (await this.#open(kind));
  }

  /** Refills the pool after a delay: a fork would slow down a command that has just started or is about to report. */
  refillIn(ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#refill(), ms);
    this.#timer.unref();
  }

  /** Call this when the shell of this slot has ended: its tag number is free again. */
  release(slot: Slot): void {
    if (slot.tagNumber !== undefined) this.#numbers?.release(slot.tagNumber);
  }

  /** Call this when a slot of this generation has died. Replaces the slot if it was waiting for a job. */
  forgetIdle(generation: string): void {
    const index = this.#idle.findIndex((slot) => slot.generation === generation);
    const [slot] = index < 0 ? [] : this.#idle.splice(index, 1);
    if (slot) this.#replace(slot);
  }

  /** Frees a slot that never got a job. */
  discard(slot: Slot): void {
    removeDir(this.#options.root, slot.files.dir);
    this.release(slot);
  }

  /** Returns the waiting slots, which the caller has to end. */
  close(): readonly Slot[] {
    this.#closed = true;
    clearTimeout(this.#timer);
    return this.#idle.splice(0);
  }

  idleDirs(): string[] {
    return this.#idle.map((slot) => slot.files.dir);
  }

  async #refill(): Promise<void> {
    if (this.#refilling) return;
    this.#refilling = true;
    try {
      while (!this.#closed && this.#idle.length < this.#options.size) {
        const slot = await this.#open(this.#options.usualKind);
        // The keeper may have reported the death of the slot before the slot was in the list.
        if (!isSameProcess(slot.commandPid, slot.commandStart)) return this.#replace(slot);
        this.#idle.push(slot);
      }
    } catch {
      // No caller waits for these slots. A command that needs a slot opens one itself and gets the error.
    } finally {
      this.#refilling = false;
    }
  }

  /** Replaces a dead slot after a delay, because the cause of its death may also kill the next slot. */
  #replace(dead: Slot): void {
    this.discard(dead);
    this.refillIn(REFILL_AFTER_DEATH_MS);
  }

  async #open(kind: SlotKind): Promise<Slot> {
    using _lease = await this.#opening.take();
    return await this.#openTwice(kind);
  }

  /**
   * Opens a slot. Repeats the request once if the keeper died, or if the state directory was removed, before the
   * answer.
   */
  async #openTwice(kind: SlotKind): Promise<Slot> {
    try {
      return await this.#openOnce(kind);
    } catch (error) {
      if (!(error instanceof KeeperLost || error instanceof DirectoryLost)) throw error;
      return await this.#openOnce(kind);
    }
  }

  async #openOnce(kind: SlotKind): Promise<Slot> {
    const { keeper, root } = this.#options;
    // If the directory was removed while the host was running, create it again. The error of ensure() says why that
    // fails.
    if (!keeper.hasFiles) root.ensure();
    await keeper.start();
    const space = keeper.tagSpace;
    if (space) this.#numbers ??= new TagNumbers(space);
    const tagNumber = await this.#numbers?.take();
    const { id, files } = createShellDir(root);
    const tag = space && tagNumber !== undefined ? space.shellTag(tagNumber) : undefined;
    try {
      const ready = await keeper.openSlot({
        dir: files.dir,
        tag: tag === undefined ? "-" : String(tag),
        ...kind,
      });
      return { ...ready, id, files, tag, key: space?.key, tagNumber };
    } catch (error) {
      // Do not reuse the tag number: a shim with this number may still start.
      const isLost = !keeper.hasFiles || !existsSync(files.record);
      removeDir(root, files.dir);
      throw isLost ? new DirectoryLost(root.path, error) : error;
    }
  }
}

/** The state directory was removed while a slot was opened in it. */
class DirectoryLost extends NacreError {
  constructor(path: string, cause: unknown) {
    super(
      "spawn_failed",
      `No shell can be started: the state directory ${path} disappears each time nacre creates it. End the program that removes it, or set NACRE_HOME to another directory.`,
      { cause },
    );
  }
}

function createShellDir(root: StateRoot): { id: string; files: ShellFiles } {
  for (let tries = 0; ; tries++) {
    const id = newShellId();
    const files = root.files(id);
    try {
      makeShellDir(root, files.dir);
      preallocateEndRecord(files.record);
      return { id, files };
    } catch (cause) {
      const code = systemCode(cause) ?? "";
      if (code === "EEXIST") continue;
      removeDir(root, files.dir);
      if (isFull(cause) || shortageOf(cause))
        throw new NacreError("spawn_failed", diskProblem(root.path, cause), { cause });
      // The directory was removed, replaced or made unwritable while the host was running: create it again, or explain
      // why that fails.
      root.ensure();
      if (code !== "ENOENT") throw new NacreError("spawn_failed", diskProblem(root.path, cause), { cause });
      if (tries >= STATE_DIRECTORY_TRIES_MAX_COUNT) throw new DirectoryLost(root.path, cause);
    }
  }
}

/** Ignores errors: for example, if a file has replaced a parent directory, there is nothing to remove. */
function removeDir(root: StateRoot, dir: string): void {
  attempt(() => removeShellDir(root, dir));
}

/** The message for a state directory that cannot be written. */
export function diskProblem(path: string, cause: unknown): string {
  const shortage = shortageOf(cause);
  if (shortage) return shortage.message;
  if (isFull(cause)) {
    return `No shell can be started: no space is left for the state directory ${path}. Free some space, or set NACRE_HOME to a directory on another disk.`;
  }
  return `No shell can be started: ${messageOf(cause)}`;
}
