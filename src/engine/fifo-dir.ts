// A directory that only one sandbox can see. It contains the scripts from which the session's bashes restore their
// state, and the fifos of its loggers. A bash in the sandbox cannot open an unnamed pipe through the logger's
// /proc/PID/fd, but it can open a fifo.
import { rmSync } from "node:fs";
import type { Keeper, LoggerProcess } from "./keeper.ts";

export class FifoDir {
  readonly path: string;
  readonly #keeper: Keeper;
  readonly #name: string;

  private constructor(keeper: Keeper, name: string) {
    this.#keeper = keeper;
    this.#name = name;
    this.path = keeper.pathOf(name);
  }

  static async open(keeper: Keeper): Promise<FifoDir> {
    return new FifoDir(keeper, await keeper.openFifoDir());
  }

  async openLogger(file: string, capBytes: number): Promise<LoggerProcess> {
    return await this.#keeper.openLogger(file, capBytes, this.#name);
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
