// A directory that one sandbox gets to see, and nobody else's is in: what its bashes are given to restore, and the
// fifos of loggers, which they cannot open through the logger's process.
import { rmSync } from "node:fs";
import type { Keeper, LoggerProcess } from "./keeper.ts";

export class FifoDir {
  readonly path: string;
  readonly #keeper: Keeper;
  readonly #folder: string;

  private constructor(keeper: Keeper, folder: string) {
    this.#keeper = keeper;
    this.#folder = folder;
    this.path = keeper.pathOf(folder);
  }

  static async open(keeper: Keeper): Promise<FifoDir> {
    return new FifoDir(keeper, await keeper.openFolder());
  }

  async openLogger(file: string, capBytes: number): Promise<LoggerProcess> {
    return await this.#keeper.openLogger(file, capBytes, this.#folder);
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
