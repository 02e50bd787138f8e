// The simplest possible session, for comparison: one bash, commands on its stdin, and a sentinel in its output that
// marks the end of a command. This session breaks if output looks like the sentinel, if a command reads stdin or ends
// bash, or if a background child prints later.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

export class SentinelSession {
  #child;
  #sentinel = randomUUID();
  #text = "";
  #done;

  constructor(workingDir) {
    this.#child = spawn("bash", ["--noprofile", "--norc"], {
      cwd: workingDir,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout.setEncoding("utf8").on("data", (chunk) => {
      this.#text += chunk;
      const at = this.#text.indexOf(this.#sentinel);
      if (at < 0 || !this.#text.endsWith("\n")) return;
      const output = this.#text.slice(0, at);
      this.#text = "";
      this.#done(output);
    });
  }

  run(command) {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#child.stdin.write(`{ ${command}\n} 2>&1; echo "${this.#sentinel} $?"\n`);
    });
  }

  close() {
    this.#child.stdin.end();
  }
}
