// One open request in this process. Calls the callback that asks a person, polls for an answer from another process,
// and ends the request at its deadline. Whichever of the three comes first wins, because the answer file can be
// created only once.
import { wallMs } from "../support/clock.ts";
import { defined } from "../support/defined.ts";
import { messageOf } from "../support/errors.ts";
import { APPROVAL_POLL_MS } from "../support/limits.ts";
import { deferred } from "../support/timing.ts";
import { AnswerComesLater, type ApprovalAnswer, type ApprovalAsking } from "../tool/context.ts";
import { type ApprovalEnd, type ApprovalRecord, isPastDeadline } from "./approval-record.ts";
import { type ApprovalStore, describeEnd, type GivenAnswer } from "./approval-store.ts";

export class Question {
  /** "later": another call will deliver the answer. Resolves to undefined after stop(). Rejects if asking failed. */
  readonly end: Promise<ApprovalEnd | "later" | undefined>;
  readonly #ended = deferred<ApprovalEnd | "later" | undefined>();
  readonly #record: ApprovalRecord;
  readonly #store: ApprovalStore;
  /** Tells the callback that its answer is no longer needed. */
  readonly #done = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(
    record: ApprovalRecord,
    approve: (asking: ApprovalAsking) => Promise<ApprovalAnswer>,
    store: ApprovalStore,
  ) {
    this.#record = record;
    this.#store = store;
    this.end = this.#ended.promise;
    this.#timer = setInterval(() => this.#poll(), APPROVAL_POLL_MS);
    // The poll timer must not keep the process alive. The waiting call does.
    this.#timer.unref();
    void this.#ask(approve);
  }

  stop(): void {
    this.#finish(undefined);
  }

  async #ask(approve: (asking: ApprovalAsking) => Promise<ApprovalAnswer>): Promise<void> {
    const { id, deadline, judged } = this.#record;
    const asking = { id, deadline: new Date(deadline), rememberable: judged !== null };
    try {
      const answer = await approve({ ...asking, signal: this.#done.signal });
      if (this.#done.signal.aborted) return;
      const { allow, reason, by = "approve callback", remember } = answer;
      this.#conclude({ status: allow ? "approved" : "denied", by, ...defined({ reason, remember }) });
    } catch (error) {
      if (this.#done.signal.aborted) return;
      if (error instanceof AnswerComesLater) return this.#finish("later");
      this.#store.conclude(id, {
        status: "withdrawn",
        by: `a failure to ask (${messageOf(error)})`,
        at: new Date(wallMs()).toISOString(),
      });
      this.#finish(undefined, error);
    }
  }

  #poll(): void {
    const end = this.#store.endOf(this.#record.id);
    if (end) this.#finish(end);
    else if (isPastDeadline(this.#record)) this.#conclude({ status: "expired", by: "the deadline" });
  }

  /** Stores this end. If another process has stored an end first, uses that end. */
  #conclude(given: GivenAnswer): void {
    try {
      const own = this.#store.concludeAs(this.#record, given);
      this.#finish(own ?? this.#store.endOf(this.#record.id));
    } catch (error) {
      this.#finish(undefined, error);
    }
  }

  #finish(end: ApprovalEnd | "later" | undefined, error?: unknown): void {
    clearInterval(this.#timer);
    if (error === undefined) this.#ended.resolve(end);
    else this.#ended.reject(error);
    this.#done.abort(typeof end === "object" ? describeEnd(end) : "is no longer needed");
  }
}
