// A directory of fifos that one sandbox gets to see, and nobody else's are in: what its bashes report through, print
// to and take their scripts from.
import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs";
import type { Keeper } from "../keeper/keeper.ts";
import { encodeFields } from "../keeper/protocol.ts";
import { Logger } from "./logger.ts";
import { ReportFifo } from "./report-fifo.ts";
import { ScriptChannel } from "./script-channel.ts";

export class Room {
  readonly path: string;
  /** What its first process is told through. */
  readonly control: string;
  readonly #keeper: Keeper;
  readonly #folder: string;
  readonly #controlFd: number;
  #closed = false;

  private constructor(keeper: Keeper, folder: string, control: string) {
    this.#keeper = keeper;
    this.#folder = folder;
    this.path = keeper.fifoPath(folder);
    this.control = control;
    // For reading, too: it may be written to before anybody reads.
    this.#controlFd = openSync(control, constants.O_RDWR | constants.O_NONBLOCK);
  }

  static async open(keeper: Keeper): Promise<Room> {
    const folder = await keeper.openFolder();
    return new Room(keeper, folder, await keeper.openFifo(folder));
  }

  tell(fields: readonly string[]): void {
    if (!this.#closed) writeSync(this.#controlFd, encodeFields(fields));
  }

  async openReports(onBytes: (bytes: Buffer) => void): Promise<ReportFifo> {
    return new ReportFifo(await this.#keeper.openFifo(this.#folder), onBytes);
  }

  async openLogger(file: string, capBytes: number): Promise<Logger> {
    const { pid, fifo } = await this.#keeper.openLogger(file, capBytes, this.#folder);
    return new Logger(pid, file, fifo);
  }

  async openScript(): Promise<ScriptChannel> {
    return new ScriptChannel(await this.#keeper.openFifo(this.#folder));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#controlFd);
    rmSync(this.path, { recursive: true, force: true });
  }
}
