// Obtains the answer to one request: finds or stores the record of the request, calls the caller's callback, and
// waits for the first answer from the callback or from another process.
//
//   ask
//     findFor          an identical request: its answer, or the record to wait for
//     remembered       a remembered answer that covers this command
//     create           else a new record
//     Question         one per record and process: the callback, the poll for answers of other processes, the deadline
//     use              claims the answer; asks again if another identical call has claimed it first
//
// If a call returns without an answer, its request stays open. A later answer is stored, and the next identical call
// uses it.
import type { StateRoot } from "../engine/state-dir.ts";
import { throwIfAborted } from "../support/abort.ts";
import { wallMs } from "../support/clock.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import { within } from "../support/timing.ts";
import type { ApprovalAnswer, ApprovalAsking } from "../tool/context.ts";
import { type ApprovalEnd, type ApprovalRecord, thisHost } from "./approval-record.ts";
import { ApprovalStore, type NewApproval } from "./approval-store.ts";
import { Question } from "./question.ts";

export interface AskOptions {
  readonly wanted: NewApproval;
  /**
   * Asks a person. Throws AnswerComesLater if another call will deliver the answer. Without this callback, the call
   * does not wait.
   */
  readonly approve: ((asking: ApprovalAsking) => Promise<ApprovalAnswer>) | undefined;
  /** The longest wait for an answer. After this time, the call returns without an answer. */
  readonly pendingAfterMs: number | undefined;
  /** Whether the request stays open when this process ends. */
  readonly outlives: boolean;
  readonly signal: AbortSignal | undefined;
}

export type Asked =
  /** `id`: the id of the remembered answer. */
  | { readonly kind: "remembered"; readonly id: string; readonly allow: boolean; readonly until: string }
  | { readonly kind: "answered"; readonly id: string; readonly end: ApprovalEnd }
  | Unanswered;

export interface Unanswered {
  readonly kind: "pending" | "expired";
  readonly id: string;
  readonly deadline: string;
}

export class ApprovalDesk {
  static readonly #desks = new WeakMap<StateRoot, ApprovalDesk>();
  readonly store: ApprovalStore;
  /** The questions of this process that have no answer yet, by the id of their record. */
  readonly #open = new Map<string, Question>();

  private constructor(root: StateRoot) {
    this.store = new ApprovalStore(root);
  }

  static of(root: StateRoot): ApprovalDesk {
    const known = ApprovalDesk.#desks.get(root) ?? new ApprovalDesk(root);
    ApprovalDesk.#desks.set(root, known);
    return known;
  }

  async ask(options: AskOptions): Promise<Asked> {
    for (;;) {
      const asked = await this.#askOnce(options);
      if (asked.kind !== "answered" || this.store.use(asked.id)) return asked;
    }
  }

  /** Ends the questions of this process. Their requests stay open for the next process. */
  close(): void {
    for (const question of this.#open.values()) question.stop();
    const { pid, startTime } = thisHost();
    for (const { record, end } of this.store.list()) {
      const isOwn = record.host?.pid === pid && record.host.startTime === startTime;
      if (isOwn && end === undefined) this.store.release(record, true);
    }
  }

  /** Withdraws the open requests of a scope that has ended: no later call can use their answers. */
  withdraw(scope: string, by: string): void {
    for (const { record, end } of this.store.list()) {
      if (record.scope === scope && end === undefined) this.#withdraw(record, by);
    }
  }

  async #askOnce({ wanted, approve, pendingAfterMs, outlives, signal }: AskOptions): Promise<Asked> {
    const known = this.store.findFor(wanted);
    if (known?.end) return { kind: "answered", id: known.record.id, end: known.end };
    const remembered = this.store.remembered.use(wanted);
    if (remembered) return { kind: "remembered", ...remembered };
    const waiter = { waiting: approve !== undefined, outlives: outlives && approve === undefined };
    const record = known ? this.store.takeOver(known, waiter, wanted) : this.store.create(wanted, waiter);
    const { id, deadline } = record;
    if (!approve) return { kind: "pending", id, deadline };
    using _hold = holdEventLoop();
    const question = this.#open.get(id) ?? this.#newQuestion(record, approve);
    const end = await within(pendingAfterMs ?? Number.POSITIVE_INFINITY, question.end, signal);
    if (signal?.aborted) {
      // If an answer was stored before the cancellation, it stays valid for the next identical call.
      this.#withdraw(record, "the caller, which cancelled the call");
      throwIfAborted(signal);
    }
    if (end === undefined || end === "later") {
      this.store.release(record, false);
      return { kind: "pending", id, deadline };
    }
    if (end.status === "expired") return { kind: "expired", id, deadline };
    return { kind: "answered", id, end };
  }

  #newQuestion(record: ApprovalRecord, approve: NonNullable<AskOptions["approve"]>): Question {
    const question = new Question(record, approve, this.store);
    this.#open.set(record.id, question);
    // A failure reaches the call through question.end.
    question.end.catch(() => {}).finally(() => this.#open.delete(record.id));
    return question;
  }

  #withdraw({ id }: ApprovalRecord, by: string): void {
    this.store.conclude(id, { status: "withdrawn", by, at: new Date(wallMs()).toISOString() });
    this.#open.get(id)?.stop();
  }
}
