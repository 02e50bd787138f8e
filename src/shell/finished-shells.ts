// Reports that background shells have ended: once to their scope, even across hosts and crashes. One file per shell
// shows whether its end is reported. So no end is lost, and two hosts of one scope never report the same end:
//
//   unreported/SCOPE/ID               started in the background, its end is not reported yet
//   unreported/SCOPE/ID.PID.START     this host sends the report now
//   (no file)                         reported
//
// A rename is atomic, so exactly one host wins. If that host dies before it removes the file, another host reports the
// end again: it cannot know whether the report arrived.
import { createHash } from "node:crypto";
import { readdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSameProcess, thisProcess } from "../engine/process-table.ts";
import { ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { FINISHED_SCOPE_NAME_CHARS } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";
import type { ShellProcess } from "./shell-process.ts";

export interface FinishedShellsOptions {
  readonly root: StateRoot;
  readonly shells: {
    /** Any shell, even of another host. */
    get(id: string): ShellProcess | undefined;
    /** Whether this manager started the shell or took it over. */
    isOwn(shell: ShellProcess): boolean;
  };
}

/** The report of the end of one shell. Call `delivered` when the report has arrived, or `dropped` if it has not. */
export interface EndReport {
  readonly id: string;
  /** undefined if the shell was swept before its end was reported. */
  readonly shell: ShellProcess | undefined;
  readonly delivered: () => void;
  readonly dropped: () => void;
}

interface Mark {
  readonly id: string;
  /** The name of the file; undefined if it could not be written. */
  readonly file: string | undefined;
}

const DEFAULT_SCOPE = "default";

export class FinishedShells {
  readonly #options: FinishedShellsOptions;
  /** The ids of shells whose end this process is reporting or has reported. */
  readonly #taken = new Set<string>();
  /** The scopes of shells without a file, by id. */
  readonly #unwritten = new Map<string, string>();

  constructor(options: FinishedShellsOptions) {
    this.#options = options;
  }

  /** From now on, the end of the shell is reported to its scope. */
  track({ id, scope }: ShellProcess): void {
    try {
      makeDirs(this.#dir(scope));
      writeFileSync(join(this.#dir(scope), id), "", { mode: 0o600 });
    } catch {
      // Without the file, only this process knows that the end is not reported.
      this.#unwritten.set(id, scope);
    }
  }

  /** The shells of the scope, running or ended, whose end is not reported yet, in no particular order. */
  unreported(scope: string): ShellProcess[] {
    return this.#marks(scope).flatMap(({ id }) => {
      const shell = this.#find(id, scope);
      return shell && this.#isVisible(shell, scope) ? [shell] : [];
    });
  }

  /**
   * Claims every end that is not reported yet, except that of the shell `except`. While this process lives, no other
   * call or host reports a claimed end.
   */
  claimEnded(scope: string, except?: string): EndReport[] {
    return this.#marks(scope).flatMap((mark) => {
      if (mark.id === except) return [];
      const shell = this.#find(mark.id, scope);
      if (shell ? shell.isRunning || !this.#isVisible(shell, scope) : scope === DEFAULT_SCOPE) return [];
      return this.#claim(mark, scope, shell) ?? [];
    });
  }

  /** Claims the end of one shell, because a result reports it anyway; undefined if there is nothing to claim. */
  claim(id: string, scope: string): EndReport | undefined {
    const mark = this.#marks(scope).find((one) => one.id === id);
    return mark && this.#claim(mark, scope, this.#find(id, scope));
  }

  #find(id: string, scope: string): ShellProcess | undefined {
    const shell = this.#options.shells.get(id);
    return shell?.scope === scope ? shell : undefined;
  }

  /** All programs of the user share the default scope. So in this scope, each program reports only its own shells. */
  #isVisible(shell: ShellProcess, scope: string): boolean {
    return scope !== DEFAULT_SCOPE || this.#options.shells.isOwn(shell);
  }

  #claim({ id, file }: Mark, scope: string, shell: ShellProcess | undefined): EndReport | undefined {
    if (this.#taken.has(id)) return undefined;
    const { pid, startTime } = thisProcess();
    const dir = this.#dir(scope);
    const claimed = join(dir, `${id}.${pid}.${startTime}`);
    if (file !== undefined) {
      try {
        renameSync(join(dir, file), claimed);
      } catch (error) {
        // ENOENT: another host was faster. After any other failure, report the end anyway, so that it is not lost.
        if (systemCode(error) === "ENOENT") return undefined;
      }
    }
    this.#taken.add(id);
    return {
      id,
      shell,
      delivered: () => {
        this.#unwritten.delete(id);
        attempt(() => unlinkSync(claimed));
        attempt(() => rmSync(join(dir, id), { force: true }));
      },
      dropped: () => {
        this.#taken.delete(id);
        attempt(() => renameSync(claimed, join(dir, id)));
      },
    };
  }

  /** Omits ends that a living host is reporting. */
  #marks(scope: string): Mark[] {
    const names = attempt(() => readdirSync(this.#dir(scope))) ?? [];
    const written = names.flatMap((file) => {
      const [, id = "", pid, startTime = ""] = /^(shell_[0-9a-f]{8})(?:\.(\d+)\.(\d+))?$/.exec(file) ?? [];
      if (id === "" || this.#taken.has(id)) return [];
      return pid !== undefined && isSameProcess(Number(pid), startTime) ? [] : [{ id, file }];
    });
    const unwritten = [...this.#unwritten].filter(([id, of]) => of === scope && !this.#taken.has(id));
    return [...written, ...unwritten.map(([id]) => ({ id, file: undefined }))];
  }

  /** The name of a scope can be any text, even a path, so its directory is named after a hash. */
  #dir(scope: string): string {
    const name = createHash("sha256").update(scope).digest("hex").slice(0, FINISHED_SCOPE_NAME_CHARS);
    return join(this.#options.root.path, ROOT_NAMES.unreported, name);
  }
}

/** The shell that ended first or, if all are running, the next one to end. undefined if none ends in time. */
export async function firstToEnd(
  shells: readonly ShellProcess[],
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ShellProcess | undefined> {
  if (shells.length === 0) {
    throw new NacreError(
      "shell_not_found",
      "There is no background shell to wait for: none is running, and every end is already reported.",
    );
  }
  const ended = shells.filter(({ isRunning }) => !isRunning);
  const earliest = ended.sort((a, b) => (a.completedAt ?? 0) - (b.completedAt ?? 0))[0];
  if (earliest) return earliest;
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race(
      shells.map(async (shell) => {
        const { kind } = await shell.waitUntil({ exit: true, signal: stop.signal }, timeoutMs);
        return kind === "ended" ? shell : undefined;
      }),
    );
  } finally {
    signal?.removeEventListener("abort", abort);
    stop.abort();
  }
}
