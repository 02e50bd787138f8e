// The approval requests of one state root, and their answers. Every process of this user sees the same files:
//
//   ID.json          the request; only its host rewrites it
//   ID.answer.json   the first answer; link(2) lets exactly one process create it
//   ID.used.json     the call that used the answer; created once, so an answer is valid for one command
//
// approval-desk.ts waits for answers. The CLI, the page and kit.approvals list and answer requests.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { APPROVAL_NAMES, ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { APPROVAL_KEPT_MS, APPROVAL_REASON_MAX_CHARS, APPROVALS_OPEN_MAX_COUNT } from "../support/limits.ts";
import type { RememberWish } from "../tool/context.ts";
import { createOnce, fileNames, newId, readJson, readText, replaceFile } from "./approval-files.ts";
import {
  type Approval,
  type ApprovalEnd,
  type ApprovalRecord,
  isAliveHost,
  isBoundTo,
  isPastDeadline,
  readRecord,
  statusOfApproval,
  thisHost,
} from "./approval-record.ts";
import { RememberedStore, rememberedAnswer } from "./remembered-store.ts";

/** A request that is not stored yet. */
export type NewApproval = Omit<
  ApprovalRecord,
  "id" | "created_at" | "deadline" | "host" | "waiting" | "reopened"
> & { readonly deadlineMs: number };

export class ApprovalStore {
  readonly remembered: RememberedStore;
  readonly #root: StateRoot;
  readonly #dir: string;

  constructor(root: StateRoot) {
    this.#root = root;
    this.remembered = new RememberedStore(root);
    this.#dir = join(root.path, ROOT_NAMES.approvals);
  }

  /** All requests on disk, oldest first. */
  list(): Approval[] {
    const ids = fileNames(this.#dir).flatMap((name) => /^(ask_[0-9a-f]+)\.json$/.exec(name)?.[1] ?? []);
    return ids
      .flatMap((id) => this.get(id) ?? [])
      .sort((a, b) => compareText(a.record.created_at, b.record.created_at));
  }

  get(id: string): Approval | undefined {
    if (!/^ask_[0-9a-f]+$/.test(id)) return undefined;
    const text = readText(this.#dir, APPROVAL_NAMES.request(id));
    const record = text === undefined ? undefined : readRecord(text);
    if (record?.id !== id) return undefined;
    const used = readJson<{ readonly at?: string }>(this.#dir, APPROVAL_NAMES.use(id));
    return { record, end: this.endOf(id), usedAt: used?.at };
  }

  /**
   * Finds an approval by its id or by the beginning of its id. Prefers approvals that can be answered. Throws if no
   * approval matches, or several.
   */
  find(idOrPrefix: string): Approval {
    const known = this.get(idOrPrefix);
    if (known) return known;
    const all = this.list();
    const named = all.filter(
      ({ record: { id } }) =>
        idOrPrefix !== "" && (id.startsWith(idOrPrefix) || id.startsWith(`ask_${idOrPrefix}`)),
    );
    const answerable = named.filter(isOpen);
    const found = answerable.length > 0 ? answerable : named;
    if (found.length === 1 && found[0]) return found[0];
    if (found.length > 1) {
      const ids = found.map(({ record }) => record.id).join(", ");
      throw new NacreError("invalid_input", `Several approvals begin with ${idOrPrefix}: ${ids}.`);
    }
    const open = all.filter((one) => statusOfApproval(one) === "open").map(({ record }) => record.id);
    const hint = open.length === 0 ? "No approval is open." : `Open: ${open.join(", ")}.`;
    throw new NacreError("invalid_input", `There is no approval ${idOrPrefix}. ${hint}`);
  }

  /**
   * Finds an earlier request with the same bound fields: its answer, given already or later, is valid for this
   * request too.
   */
  findFor(wanted: NewApproval): Approval | undefined {
    const all = this.list().filter((one) => isReusable(one) && isBoundTo(one.record, wanted));
    return all.findLast(({ end }) => end !== undefined) ?? all.at(-1);
  }

  create({ deadlineMs, ...request }: NewApproval, { waiting, outlives }: Waiter): ApprovalRecord {
    this.#sweep();
    const open = this.list().filter((one) => isOpen(one) && one.record.scope === request.scope);
    if (open.length >= APPROVALS_OPEN_MAX_COUNT) {
      throw new NacreError(
        "limit_reached",
        `${open.length} approvals of this scope are open already. Answer some first: nacre approvals lists them.`,
      );
    }
    this.#root.ensure();
    const now = wallMs();
    for (;;) {
      const record: ApprovalRecord = {
        id: newId("ask"),
        ...request,
        created_at: new Date(now).toISOString(),
        deadline: new Date(now + deadlineMs).toISOString(),
        host: outlives ? null : thisHost(),
        waiting,
        reopened: 0,
      };
      if (createOnce(this.#dir, APPROVAL_NAMES.request(record.id), record)) return record;
    }
  }

  /** Makes this process the host of an existing request. */
  takeOver({ record }: Approval, { waiting, outlives }: Waiter, { preview }: NewApproval): ApprovalRecord {
    const isLeft = record.host !== null && !isAliveHost(record.host);
    return this.#rewrite(record, {
      ...(preview ? { preview } : {}),
      host: outlives ? null : thisHost(),
      waiting,
      reopened: record.reopened + (isLeft ? 1 : 0),
    });
  }

  /**
   * Call this when no call in this process waits for the answer any longer. `outlives`: the request stays open after
   * this process ends.
   */
  release(record: ApprovalRecord, outlives: boolean): void {
    this.#rewrite(record, { waiting: false, host: outlives ? null : record.host });
  }

  /**
   * Stores the first answer. Throws if the request already has an answer, if its deadline has passed, or if the
   * answer cannot be remembered.
   */
  answer(idOrPrefix: string, { remember: wish, ...given }: GivenAnswer): Approval {
    const approval = this.find(idOrPrefix);
    const { id } = approval.record;
    if (approval.end) throw alreadyEnded(id, approval.end);
    if (isPastDeadline(approval.record)) throw expired(approval.record);
    const end = this.concludeAs(approval.record, { ...given, ...(wish && { remember: wish }) });
    if (!end) throw alreadyEnded(id, this.endOf(id));
    return { ...approval, end };
  }

  /**
   * Stores this answer unless the request already has one. Also remembers it, if the person asked for that. Returns
   * undefined if another answer came first.
   */
  concludeAs(
    record: ApprovalRecord,
    { remember: wish, reason, ...given }: GivenAnswer,
  ): ApprovalEnd | undefined {
    const allow = given.status === "approved";
    const answer = wish && rememberedAnswer(record, { allow, wish, by: given.by });
    const end = {
      ...given,
      ...(reason ? { reason: reason.slice(0, APPROVAL_REASON_MAX_CHARS) } : {}),
      ...(answer && { remembered: answer.id }),
      at: new Date(wallMs()).toISOString(),
    };
    if (!this.conclude(record.id, end)) return undefined;
    if (answer) this.remembered.save(answer);
    return end;
  }

  /** Stores how the request ended, unless that is stored already. Returns whether this call stored it. */
  conclude(id: string, end: ApprovalEnd): boolean {
    return createOnce(this.#dir, APPROVAL_NAMES.answer(id), end);
  }

  endOf(id: string): ApprovalEnd | undefined {
    const end = readJson<ApprovalEnd>(this.#dir, APPROVAL_NAMES.answer(id));
    return end && typeof end.status === "string" && typeof end.by === "string" ? end : undefined;
  }

  /** Claims the answer for one call. Returns false if another call has used it. */
  use(id: string): boolean {
    return createOnce(this.#dir, APPROVAL_NAMES.use(id), { at: new Date(wallMs()).toISOString() });
  }

  #rewrite(record: ApprovalRecord, changes: Partial<ApprovalRecord>): ApprovalRecord {
    const next = { ...record, ...changes };
    replaceFile(this.#dir, APPROVAL_NAMES.request(record.id), next);
    return next;
  }

  /** Removes requests that ended long ago, and files without a request. */
  #sweep(): void {
    const before = wallMs() - APPROVAL_KEPT_MS;
    for (const { record, end } of this.list()) {
      const endedAt = Math.min(Date.parse(end?.at ?? record.deadline), Date.parse(record.deadline));
      if (!(endedAt < before)) continue;
      for (const name of Object.values(APPROVAL_NAMES))
        rmSync(join(this.#dir, name(record.id)), { force: true });
    }
  }
}

export interface GivenAnswer extends Omit<ApprovalEnd, "at" | "remembered"> {
  readonly remember?: RememberWish;
}

export interface Waiter {
  /** Whether a call waits for the answer. */
  readonly waiting: boolean;
  /** Whether the request stays open when this process ends. */
  readonly outlives: boolean;
}

/** Whether the request is unanswered and its deadline has not passed. */
function isOpen(approval: Approval): boolean {
  return ["open", "abandoned"].includes(statusOfApproval(approval));
}

/** Whether the answer can still be used and no other call is about to use it. */
function isReusable({ record, end, usedAt }: Approval): boolean {
  if (usedAt !== undefined || isPastDeadline(record)) return false;
  if (end && end.status !== "approved" && end.status !== "denied") return false;
  if (record.host === null) return true;
  if (isAliveHost(record.host)) return !record.waiting;
  // A request is taken over from a dead host only once. If the host that took it over has died too, the next call makes a
  // new request.
  return record.reopened === 0;
}

function expired({ id, deadline }: ApprovalRecord): NacreError {
  return new NacreError(
    "approval_expired",
    `Approval ${id} expired at ${deadline}: no answer came before its deadline. Nothing was run. Repeat the call to ask again.`,
  );
}

function alreadyEnded(id: string, end: ApprovalEnd | undefined): NacreError {
  const words = end ? describeEnd(end) : "was just answered";
  const code = end?.status === "expired" ? "approval_expired" : "conflict";
  return new NacreError(code, `Approval ${id} ${words}. The first answer counts.`);
}

/** `was approved by nacre approve at 2026-…`. */
export function describeEnd({ status, by, at, reason }: ApprovalEnd): string {
  const why = reason === undefined || reason === "" ? "" : ` (${JSON.stringify(reason)})`;
  if (status === "expired") return `expired at ${at}`;
  return `was ${status} by ${by} at ${at}${why}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
