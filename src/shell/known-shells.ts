// The shells a manager knows: those it has started or taken over, which are its own, and those of other hosts
// that somebody has asked for.
import { readFileSync } from "node:fs";
import type { Host, StartedShell } from "../engine/host.ts";
import type { SpoolRoot } from "../engine/layout.ts";
import { NacreError } from "../support/errors.ts";
import type { Events } from "../support/events.ts";
import { killOf } from "./shell-events.ts";
import { ShellProcess, type ShellProcessOptions } from "./shell-process.ts";

export interface KnownShellsOptions {
  readonly host: Host;
  readonly root: SpoolRoot;
  readonly graceMs: number;
  readonly events: Events;
  /** Called when one gets known that may be running, and when it has ended. */
  readonly onKnown: (shell: ShellProcess) => void;
  readonly onEnd: (shell: ShellProcess) => void;
}

type NewShell = Omit<ShellProcessOptions, "graceMs" | "onEnd" | "onKill">;

export class KnownShells {
  readonly #options: KnownShellsOptions;
  readonly #shells = new Map<string, ShellProcess>();
  /** The others belong to hosts that live, or have ended. */
  readonly #own = new Set<ShellProcess>();

  constructor(options: KnownShellsOptions) {
    this.#options = options;
  }

  /** Known by now, or on disk. */
  get(id: string): ShellProcess | undefined {
    return this.#shells.get(id) ?? this.#attach(id);
  }

  /** By an id or an unambiguous beginning of it. */
  find(idOrPrefix: string): ShellProcess | undefined {
    const known = this.get(idOrPrefix);
    if (known || idOrPrefix === "") return known;
    const ids = this.#options.root
      .list()
      .filter((id) => id.startsWith(idOrPrefix) || id.startsWith(`shell_${idOrPrefix}`));
    const shells = ids.flatMap((id) => this.get(id) ?? []);
    if (shells.length <= 1) return shells[0];
    const more = shells.length - NAMED_COUNT;
    const names =
      shells
        .slice(0, NAMED_COUNT)
        .map(({ id }) => id)
        .join(", ") + (more > 0 ? ` and ${more} more` : "");
    throw new NacreError(
      "invalid_input",
      `${idOrPrefix} is the beginning of several shells: ${names}. Write more of it.`,
    );
  }

  /** Every one on disk, oldest first. */
  all(): ShellProcess[] {
    const shells = this.#options.root.list().flatMap((id) => this.get(id) ?? []);
    return shells.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Those of this manager. */
  ownOf(scope?: string): ShellProcess[] {
    const all = [...this.#own];
    return scope === undefined ? all : all.filter((shell) => shell.scope === scope);
  }

  isOwn(shell: ShellProcess): boolean {
    return this.#own.has(shell);
  }

  /** From now on this manager looks after it. */
  own(shell: ShellProcess): void {
    this.#own.add(shell);
  }

  /** One that this manager has started. */
  addOwn(options: NewShell, onEnd?: () => void): ShellProcess {
    const shell = this.add(options, onEnd);
    this.own(shell);
    return shell;
  }

  /** One of another host that is dead. */
  takeOver(started: StartedShell): ShellProcess {
    const shell = this.#shells.get(started.id) ?? this.#addStarted(started);
    this.own(shell);
    return shell;
  }

  add(options: NewShell, onEnd = () => {}): ShellProcess {
    const { graceMs, events } = this.#options;
    const shell = new ShellProcess({
      ...options,
      graceMs,
      onEnd: (ended) => {
        onEnd();
        this.#options.onEnd(ended);
      },
      onKill: (killed, by, report) => events.emit("kill", killOf(killed, by, report)),
    });
    this.#shells.set(shell.id, shell);
    this.#options.onKnown(shell);
    return shell;
  }

  drop(id: string): void {
    const shell = this.#shells.get(id);
    if (!shell) return;
    this.#shells.delete(id);
    this.#own.delete(shell);
    this.#options.host.release(shell.started);
  }

  #attach(id: string): ShellProcess | undefined {
    // An id comes from outside and becomes a path.
    if (!/^shell_[0-9a-f]{8}$/.test(id)) return undefined;
    const started = this.#options.host.attach(id);
    if (!started) return undefined;
    const shell = this.#addStarted(started);
    shell.refresh();
    return shell;
  }

  #addStarted(started: StartedShell): ShellProcess {
    return this.add({ host: this.#options.host, started, command: readCommand(started) });
  }
}

function readCommand({ files }: StartedShell): string {
  try {
    return readFileSync(files.command, "utf8");
  } catch {
    return "";
  }
}

/** No more of those that an ambiguous beginning may mean. */
const NAMED_COUNT = 5;
