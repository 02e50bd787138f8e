// One command that runs in a session's bash: ended by its timeout, by an interrupt or by its own doing,
// whichever comes first. What it printed and what comes next is the session's business.
import type { Host } from "../hosts/host.ts";
import type { Cause } from "../spool/end-record.ts";
import { INTERRUPT_GRACE_MS, TIMER_MAX_MS } from "../support/limits.ts";
import { onlyCommand } from "./command-processes.ts";
import { endShells, signalShells } from "./kill.ts";
import type { Ending, SessionBash } from "./session-bash.ts";
import type { RunOptions } from "./session-options.ts";

export type CommandEnding =
  | (Ending & { readonly interrupted: boolean })
  /** Its time is over and it goes on without this call. */
  | { readonly kind: "left" };

export class SessionCommand {
  readonly number: number;
  readonly bash: SessionBash;
  readonly #host: Host;
  readonly #graceMs: number;
  readonly #ended: Promise<Ending>;
  #interrupted = false;
  #isOver = false;

  constructor(options: {
    readonly number: number;
    readonly bash: SessionBash;
    readonly host: Host;
    readonly graceMs: number;
    readonly message: Buffer;
  }) {
    this.number = options.number;
    this.bash = options.bash;
    this.#host = options.host;
    this.#graceMs = options.graceMs;
    this.#ended = this.bash.run(this.number, options.message);
  }

  async end({ timeoutMs, onTimeout, signal }: RunOptions): Promise<CommandEnding> {
    let timer: NodeJS.Timeout | undefined;
    const left = new Promise<"left">((resolve) => {
      if (timeoutMs === undefined) return;
      const isOver = () => {
        if (onTimeout === "background") resolve("left");
        else void this.kill({ kind: "timeout", detail: String(timeoutMs) });
      };
      timer = setTimeout(isOver, Math.min(timeoutMs, TIMER_MAX_MS));
    });
    const interrupt = () => void this.interrupt();
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });
    try {
      const ending = await (timeoutMs === undefined ? this.#ended : Promise.race([this.#ended, left]));
      if (ending === "left") return { kind: "left" };
      if (this.#interrupted && ending.kind === "ran") await this.#killRest();
      return { ...ending, interrupted: this.#interrupted };
    } finally {
      this.#isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
    }
  }

  /** As Ctrl-C: INT first, so that traps run; what has not ended then is killed. */
  async interrupt(): Promise<void> {
    if (this.#interrupted || this.#isOver) return;
    this.#interrupted = true;
    const { shell } = this.bash;
    const target = { started: shell.started, ended: this.#ended };
    await signalShells(onlyCommand(this.#host, this.number), [target], "SIGINT");
    await orAfter(INTERRUPT_GRACE_MS, this.#ended);
    if (!this.#isOver) await this.kill({ kind: "aborted", detail: "the caller" });
  }

  /** Ends the bash and everything this command started; what earlier ones left running lives on. */
  async kill(cause: Cause): Promise<void> {
    if (this.#isOver) return;
    const target = this.bash.shell.toKill(cause);
    await endShells(onlyCommand(this.#host, this.number), [target], this.#graceMs);
    // Every call returns, also one whose bash the kernel does not let go.
    if (!this.#isOver && this.bash.isAlive)
      this.bash.abandon({ kind: "lost", reason: "it did not end after SIGKILL" });
  }

  /** The bash has survived the interrupt, by a trap; the rest of the command does not. */
  async #killRest(): Promise<void> {
    const { started } = this.bash.shell;
    const host = onlyCommand(this.#host, this.number, started.commandPid);
    await endShells(host, [{ started, ended: Promise.resolve() }], 0);
  }
}

async function orAfter(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
