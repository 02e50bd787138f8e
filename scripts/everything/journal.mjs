// The journal of an agent in the soak test: which operations began, and what nacre acknowledged. It is on disk because
// the agent can be killed at any moment.
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
    // A killed agent can leave the last line incomplete. Skip it: it acknowledges nothing.
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
