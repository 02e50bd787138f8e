// Lists and answers the approvals of one state root, for the CLI, the page and kit.approvals.
import { defined } from "../support/defined.ts";
import type { RememberWish } from "../tool/context.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import { type ApprovalEntry, entryOf } from "./approval-record.ts";
import { type RememberedEntry, rememberedEntry } from "./remembered-store.ts";

export interface AnswerOptions {
  /** The text that the agent sees if the request is denied. */
  readonly reason?: string;
  /** The source of the answer, stored in its record. */
  readonly by?: string;
  /** Also answers later commands with the same effect. @default only this command */
  readonly remember?: RememberWish;
}

/** `id`: the id of a request or a remembered answer, or a unique prefix of the id. */
export interface ApprovalInbox {
  /**
   * The requests of all agents on this state root, oldest first: open ones, and those that ended in the last 24 hours.
   */
  list(): readonly ApprovalEntry[];
  get(id: string): ApprovalEntry;
  /** Throws if another answer came first or the deadline has passed. The error names the first answer and its time. */
  approve(id: string, options?: AnswerOptions): ApprovalEntry;
  deny(id: string, options?: AnswerOptions): ApprovalEntry;
  /** The remembered answers that are valid now, oldest first. */
  remembered(): readonly RememberedEntry[];
  /** Removes a remembered answer, so that nacre asks about such commands again. */
  forget(id: string): RememberedEntry;
}

export function approvalInbox({ store }: ApprovalDesk, defaultBy: string): ApprovalInbox {
  const answer = (status: "approved" | "denied", id: string, options: AnswerOptions = {}) => {
    const { reason, remember, by = defaultBy } = options;
    return entryOf(store.answer(id, { status, by, ...defined({ reason, remember }) }));
  };
  return {
    list: () => store.list().map(entryOf),
    get: (id) => entryOf(store.find(id)),
    approve: (id, options) => answer("approved", id, options),
    deny: (id, options) => answer("denied", id, options),
    remembered: () => store.remembered.list().map(rememberedEntry),
    forget: (id) => rememberedEntry(store.remembered.forget(id, defaultBy)),
  };
}
