// A shell at the remote end. Stores the last state that the remote end sent; events update this state.
import type { Confinement } from "../../engine/confinement.ts";
import type { ProcessRef } from "../../engine/process-table.ts";
import type { RemotePeer } from "../../remote/client/remote-peer.ts";
import type { Diagnosis } from "../../shell/diagnosis.ts";
import type { Followed, OutputBytes, OutputPiece, StreamName } from "../../shell/follow-output.ts";
import type { KillReport } from "../../shell/kill-report.ts";
import type { Outcome } from "../../shell/outcome.ts";
import type { SearchOptions, SearchResult } from "../../shell/output-search.ts";
import type { ShellStatus } from "../../shell/shell-status.ts";
import type { WaitCondition, WaitedFor, WaitFor, WaitLimit, WaitResult } from "../../shell/wait-for.ts";
import * as wait from "../../shell/wait-for.ts";
import { NacreError } from "../../support/errors.ts";
import { isRegExp } from "../../support/realms.ts";
import { followRemote, followRemoteText } from "./remote-output.ts";

/** The state of a shell as plain data. */
export interface RemoteShellState {
  readonly id: string;
  readonly command: string;
  /** A directory of the remote machine. */
  readonly workingDir: string;
  readonly scope: string;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly completedAt: number | null;
  readonly durationMs: number;
  readonly durable: boolean;
  readonly status: ShellStatus;
  readonly outcome: Outcome | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly remarks: readonly string[];
  readonly outputFiles: Readonly<Record<StreamName, string>>;
  readonly confinement: Confinement | null;
}

export class RemoteShell {
  readonly #peer: RemotePeer;
  #state: RemoteShellState;

  /** @internal */
  constructor(peer: RemotePeer, state: RemoteShellState) {
    this.#peer = peer;
    this.#state = state;
  }

  get id(): string {
    return this.#state.id;
  }

  get command(): string {
    return this.#state.command;
  }

  get workingDir(): string {
    return this.#state.workingDir;
  }

  get scope(): string {
    return this.#state.scope;
  }

  get createdAt(): number {
    return this.#state.createdAt;
  }

  get startedAt(): number {
    return this.#state.startedAt;
  }

  get completedAt(): number | null {
    return this.#state.completedAt;
  }

  get durationMs(): number {
    return this.#state.durationMs;
  }

  get durable(): boolean {
    return this.#state.durable;
  }

  get status(): ShellStatus {
    return this.#state.status;
  }

  /** undefined while the shell runs. */
  get outcome(): Outcome | undefined {
    return this.#state.outcome ?? undefined;
  }

  get isRunning(): boolean {
    return this.outcome === undefined;
  }

  /** null while the shell runs, or if no exit code is known. */
  get exitCode(): number | null {
    return this.#state.exitCode;
  }

  get signal(): string | null {
    return this.#state.signal;
  }

  get remarks(): readonly string[] {
    return this.#state.remarks;
  }

  get confinement(): Confinement | undefined {
    return this.#state.confinement ?? undefined;
  }

  /** The files with the raw output, at the remote end. */
  get outputFiles(): Readonly<Record<StreamName, string>> {
    return this.#state.outputFiles;
  }

  toJSON(): Readonly<Record<string, unknown>> {
    const { id, command, workingDir, scope, status, exitCode, signal } = this;
    const { createdAt, completedAt, durationMs, durable } = this;
    const times = { createdAt, completedAt, durationMs };
    return { id, command, workingDir, scope, status, exitCode, signal, durable, ...times };
  }

  /** @internal */
  update(state: RemoteShellState): void {
    // Do not replace the state of an ended shell with that of a running one: an answer can be older than an event.
    if (this.isRunning || state.outcome !== null) this.#state = state;
  }

  /** Asks the remote end for the state now. */
  async refresh(): Promise<void> {
    const { shell } = await this.#ask<{ shell: RemoteShellState }>("get");
    this.update(shell);
  }

  /** Live: everything printed so far, then new output until the shell ends or the signal aborts. */
  output(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<OutputPiece, void, void> {
    return followRemoteText(this.#peer, { bash_id: this.id }, options);
  }

  /** The same output as raw bytes, from these positions on. */
  outputBytes(options: Pick<Followed, "from" | "signal"> = {}): AsyncGenerator<OutputBytes, void, void> {
    return followRemote(this.#peer, { bash_id: this.id }, options);
  }

  /** Finds lines in everything that the shell has printed. */
  async search(pattern?: string | RegExp, { signal, ...options }: SearchOptions = {}): Promise<SearchResult> {
    return await this.#ask("search", { pattern: wirePattern(pattern), options }, signal);
  }

  /** Reports what each process of the shell does or waits for. */
  async why(): Promise<Diagnosis> {
    return await this.#ask("why");
  }

  /**
   * Waits for the end. Returns the exit code, or null if none is known. Throws after the timeout, without ending the
   * shell.
   */
  async wait(timeoutMs?: number): Promise<number | null> {
    await this.waitFor({ exit: true }, timeoutMs);
    return this.exitCode;
  }

  /** Waits for a line, a port, a file, or "exit". Throws if the timeout expires or the shell ends first. */
  async waitFor<const W extends WaitFor>(what: W, limit?: WaitLimit): Promise<WaitedFor<W>> {
    const condition = wait.conditionOf(what, limit);
    const limitMs = condition.timeoutMs ?? (typeof limit === "number" ? limit : undefined);
    const result = await this.waitUntil(condition, limitMs);
    return wait.metOrThrow(result, condition, this.id, limitMs) as WaitedFor<W>;
  }

  /** Like waitFor, but returns every ending as a value. */
  async waitUntil({ signal, pattern, ...condition }: WaitCondition, timeoutMs?: number): Promise<WaitResult> {
    const wanted = { ...condition, ...(pattern === undefined ? {} : { pattern: wirePattern(pattern) }) };
    const params = { condition: wanted, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const { result, shell } = await this.#ask<{ result: WaitResult; shell: RemoteShellState }>(
      "wait",
      params,
      signal,
    );
    this.update(shell);
    return result;
  }

  /** Ends the shell and everything it started: TERM, a grace period, KILL. */
  async kill(options: { readonly by?: string; readonly graceMs?: number } = {}): Promise<KillReport> {
    const report = await this.#ask<KillReport>("kill", { options });
    await this.refresh();
    return report;
  }

  /** Sends TERM to everything that the shell started, and does not wait. */
  async terminate(options: { readonly by?: string } = {}): Promise<KillReport> {
    return await this.#ask("terminate", { options });
  }

  /** Sends one signal to everything that the shell started. */
  async sendSignal(name: NodeJS.Signals): Promise<KillReport> {
    return await this.#ask("signal", { name });
  }

  /** Interrupts the shell as Ctrl-C does. */
  async interrupt(options: { readonly by?: string; readonly graceMs?: number } = {}): Promise<void> {
    await this.#ask("interrupt", { options });
    await this.refresh();
  }

  /** The processes that still run after the shell has ended. */
  async leftovers(): Promise<readonly ProcessRef[]> {
    return (await this.#ask<{ leftovers: readonly ProcessRef[] }>("leftovers")).leftovers;
  }

  async #ask<T>(
    action: string,
    params: Readonly<Record<string, unknown>> = {},
    signal?: AbortSignal,
  ): Promise<T> {
    return await this.#peer.request<T>(`nacre/shells.${action}`, { bash_id: this.id, ...params }, { signal });
  }
}

/** A RegExp as its source and flags, because functions cannot be sent. */
function wirePattern(pattern: unknown): unknown {
  if (isRegExp(pattern)) return { source: pattern.source, flags: pattern.flags };
  if (typeof pattern !== "object" || pattern === null) return pattern;
  throw new NacreError(
    "invalid_input",
    "A shell on a remote machine compares lines there, so it cannot call your matches(). Use text or a RegExp.",
  );
}
