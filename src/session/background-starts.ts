// Starts background shells with the state of their session. Each shell reads a script when it starts, through BASH_ENV.
// The shell then writes its own state to its directory, as a new bash of the session does. nacre compares this state
// with the state of the session. This file owns the script files.
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { labelOf } from "../engine/meta.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { scratchOf } from "../shell/scratch.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { defined } from "../support/defined.ts";
import { INHERITANCE_POLL_MS, RESTORE_CHECK_MAX_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { interactiveVariables } from "../terminal/launch.ts";
import { checkedEnv } from "./command-plan.ts";
import type { SessionBash } from "./session-bash.ts";
import { nearestDirectory } from "./session-directory.ts";
import type { SessionLineage } from "./session-lineage.ts";
import { staleStartNotes, uninheritedNotes } from "./session-notes.ts";
import type { SessionDeps, StartOptions } from "./session-options.ts";
import { INHERITED_NUMBER, inheritanceScript, isAtRisk, notInherited } from "./session-restore.ts";
import { readStateOf, stateFile, writeScript } from "./state-files.ts";

export interface BackgroundStartsOptions {
  readonly deps: SessionDeps;
  readonly lineage: SessionLineage;
  readonly id: string;
  readonly scope: string;
  readonly takeTurn: () => Promise<Disposable>;
  readonly anyBash: () => Promise<SessionBash>;
}

export class BackgroundStarts {
  readonly #options: BackgroundStartsOptions;
  #given: { readonly file: string; readonly shell: ShellProcess }[] = [];
  #count = 0;

  constructor(options: BackgroundStartsOptions) {
    this.#options = options;
  }

  async start(command: string, options: StartOptions): Promise<ShellProcess> {
    const { deps, lineage, id, scope } = this.#options;
    const { workingDir: named, durable = false, timeoutMs, previewDir, background = true } = options;
    const env = options.env ? checkedEnv(options.env) : {};
    const { directory, workspace } = lineage;
    const workingDir = directory.isNew(named) ? named : nearestDirectory(lineage.directoryFor(undefined));
    if (lineage.awaitsProfile) await this.#sourceProfile();
    const { state, missing } = await lineage.savedState();
    const file =
      state === undefined
        ? undefined
        : await this.#write(state, env, { isTerminal: options.terminal === true, previewDir });
    const shell = await deps.createShell({
      command,
      workingDir,
      scope,
      session: id,
      durable,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...labelOf(options),
      ...defined({ terminal: options.terminal, rows: options.rows, cols: options.cols }),
      workspace,
      background,
      ...(previewDir === undefined ? {} : { previewDir }),
      ...(file === undefined ? {} : { inherits: file }),
      env: file === undefined ? env : { ...env, BASH_ENV: asBashEnv(file) },
    });
    if (file !== undefined) this.#given.push({ file, shell });
    if (!durable) lineage.shells.add(shell);
    shell.remark(...staleStartNotes(missing));
    if (state !== undefined)
      shell.remark(...uninheritedNotes(await uninheritedBy(shell, state, lineage.nonce)));
    return shell;
  }

  /** Deletes the scripts, except those of durable shells: such a shell may not have read its script yet. */
  removeFiles(): void {
    for (const { file, shell } of this.#given) if (!shell.durable) attempt(() => unlinkSync(file));
  }

  /** Waits until bash has sourced the profile, because a background shell inherits what the profile sets. */
  async #sourceProfile(): Promise<void> {
    using _turn = await this.#options.takeTurn();
    const bash = await this.#options.anyBash();
    await bash.ready();
  }

  async #write(
    state: string,
    env: Readonly<Record<string, string>>,
    { isTerminal, previewDir }: { readonly isTerminal: boolean; readonly previewDir: string | undefined },
  ): Promise<string> {
    const { deps, lineage, anyBash } = this.#options;
    const { dir } = (await anyBash()).started.files;
    const isSandboxed = previewDir !== undefined || (await deps.confiner.isEnforced(lineage.workspace));
    const reportTo = stateFile(isSandboxed ? SESSION_NAMES.scratch : ".", INHERITED_NUMBER);
    const baseNames = Object.keys(deps.environment.env);
    // An ended shell no longer needs its script.
    this.#given = this.#given.filter(({ file, shell }) => {
      if (!shell.isRunning) attempt(() => unlinkSync(file));
      return shell.isRunning;
    });
    const file = join(dir, SESSION_NAMES.inherit(++this.#count));
    const more = isTerminal ? interactiveVariables("\\builtin ") : [];
    writeScript(file, inheritanceScript(state, lineage.nonce, baseNames, env, reportTo, more), dir);
    return file;
  }
}

/** The path as a value of BASH_ENV. Escapes it, because bash expands BASH_ENV like a word in double quotes. */
function asBashEnv(path: string): string {
  return path.replace(/[\\$`]/g, "\\$&");
}

/** What the shell did not inherit, as text; "unknown" if the shell takes too long to write its state. */
async function uninheritedBy(
  shell: ShellProcess,
  state: string,
  nonce: string,
): Promise<string[] | "unknown"> {
  // A shell always inherits plain exports. Most sessions have nothing else, so there is nothing to wait for.
  if (!isAtRisk(state, nonce)) return [];
  const dir = writableDirOf(shell.started);
  const deadline = monotonicMs() + RESTORE_CHECK_MAX_MS;
  for (;;) {
    // Read isRunning before the file: if the shell has already ended, the file contains everything that it wrote.
    const { isRunning } = shell;
    const found = readStateOf(stateFile(dir, INHERITED_NUMBER), INHERITED_NUMBER, nonce);
    if (found !== undefined) return notInherited(state, found.state, nonce);
    // The shell ended before it wrote its state. Its outcome says why.
    if (!isRunning) return [];
    if (monotonicMs() > deadline) return "unknown";
    await sleep(INHERITANCE_POLL_MS);
  }
}

/** The directory to which the shell writes its state. A sandboxed shell can write only to its scratch directory. */
function writableDirOf({ files, meta }: StartedShell): string {
  return meta.confinement?.driver === "bubblewrap" ? scratchOf(files.dir) : files.dir;
}
