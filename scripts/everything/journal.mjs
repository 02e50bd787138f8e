// What an agent of the soak has begun and what nacre has acknowledged, on disk: the agent itself can be killed at any moment.
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export class Journal {
  #file;

  constructor(file) {
    this.#file = file;
  }

  write(entry) {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  entries() {
    if (!existsSync(this.#file)) return [];
    // A killed agent can leave the last line incomplete; it acknowledged nothing.
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .flatMap((line) => {
        try {
          return line === "" ? [] : [JSON.parse(line)];
        } catch {
          return [];
        }
      });
  }
}
