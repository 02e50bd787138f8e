// Remembered answers: a person's answers that stay valid for a session or a workspace, until they expire. An answer
// covers later commands that the policy judges in the same way (judged-effect.ts). An answer never overrides a deny,
// because the policy denies before nacre reads any answer. A log in the same directory records when answers are made,
// used and removed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { AuditLog } from "../audit/audit-log.ts";
import { REMEMBERED_NAMES, ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { excerpt } from "../support/excerpt.ts";
import { REMEMBERED_DEFAULT_MS, REMEMBERED_MAX_MS } from "../support/limits.ts";
import { wirePath } from "../support/path-text.ts";
import type { RememberWish } from "../tool/context.ts";
import { createOnce, fileNames, newId, readJson } from "./approval-files.ts";
import type { ApprovalRecord } from "./approval-record.ts";
import { covers, type JudgedEffect } from "./judged-effect.ts";

/** The content of a remembered answer's file. Times are ISO 8601. */
export interface RememberedAnswer
  extends Pick<ApprovalRecord, "command" | "scope" | "session" | "workspace" | "rule"> {
  readonly id: string;
  readonly allow: boolean;
  /** "session": valid for commands of the same session. "workspace": valid for every agent in the same workspace. */
  readonly lasts: RememberWish["lasts"];
  /** "exact": covers only the same paths. "class": also covers other paths of the same classes. */
  readonly paths: NonNullable<RememberWish["paths"]>;
  readonly judged: readonly JudgedEffect[];
  /** The id of the request that was answered. */
  readonly approval: string;
  readonly by: string;
  readonly created_at: string;
  readonly until: string;
}

/** A remembered answer as `nacre approvals --remembered --json`, `kit.approvals` and the page show it. */
export type RememberedEntry = Omit<RememberedAnswer, "judged"> & {
  readonly rules: readonly string[];
  readonly programs: readonly string[];
};

/** The fields of a command that nacre compares with a remembered answer. */
type Wanted = Pick<ApprovalRecord, "scope" | "session" | "workspace" | "judged" | "command" | "rule">;

export class RememberedStore {
  readonly #dir: string;

  constructor(root: StateRoot) {
    this.#dir = join(root.path, ROOT_NAMES.remembered);
  }

  /** The answers that are valid now, oldest first. Removes expired answers. */
  list(): RememberedAnswer[] {
    const ids = fileNames(this.#dir).flatMap((name) => /^(rem_[0-9a-f]+)\.json$/.exec(name)?.[1] ?? []);
    const answers = ids.flatMap((id) => this.#read(id) ?? []);
    const isValid = ({ until }: RememberedAnswer) => Date.parse(until) > wallMs();
    for (const old of answers.filter((answer) => !isValid(answer))) this.#remove(old.id);
    return answers.filter(isValid).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  /** Returns the answer for this command, if there is one, and logs its use. A denial overrides an approval. */
  use(wanted: Wanted): RememberedAnswer | undefined {
    const { judged } = wanted;
    if (judged === null) return undefined;
    const found = this.list().filter(
      (one) => isInScope(one, wanted) && covers(one.judged, judged, one.paths),
    );
    const answer = found.find(({ allow }) => !allow) ?? found.at(-1);
    if (answer) this.#log("used", answer, { command: wanted.command, used_by: wanted.scope });
    return answer;
  }

  save(answer: RememberedAnswer): void {
    createOnce(this.#dir, REMEMBERED_NAMES.answer(answer.id), answer);
    this.#log("made", answer, { command: answer.command, by: answer.by });
  }

  /** Removes the answer with this id. The beginning of the id is enough if it is unique. */
  forget(idOrPrefix: string, by: string): RememberedAnswer {
    const all = this.list();
    const found = all.filter(
      ({ id }) => idOrPrefix !== "" && (id.startsWith(idOrPrefix) || id.startsWith(`rem_${idOrPrefix}`)),
    );
    const [answer] = found;
    if (answer && found.length === 1) {
      this.#remove(answer.id);
      this.#log("forgotten", answer, { by });
      return answer;
    }
    const ids = (found.length > 1 ? found : all).map(({ id }) => id).join(", ");
    if (found.length > 1)
      throw new NacreError("invalid_input", `Several remembered answers begin with ${idOrPrefix}: ${ids}.`);
    const hint = ids === "" ? "No answer is remembered." : `Choose from: ${ids}.`;
    throw new NacreError(
      "invalid_input",
      `There is no remembered answer ${idOrPrefix}; it may have ended. ${hint}`,
    );
  }

  #read(id: string): RememberedAnswer | undefined {
    const value = readJson<Partial<RememberedAnswer>>(this.#dir, REMEMBERED_NAMES.answer(id));
    const isAnswer =
      value?.id === id &&
      typeof value.allow === "boolean" &&
      typeof value.until === "string" &&
      typeof value.created_at === "string" &&
      Array.isArray(value.judged);
    return isAnswer ? (value as RememberedAnswer) : undefined;
  }

  #remove(id: string): void {
    rmSync(join(this.#dir, REMEMBERED_NAMES.answer(id)), { force: true });
  }

  #log(action: "made" | "used" | "forgotten", { id, allow, rule }: RememberedAnswer, more: object): void {
    const log = new AuditLog(join(this.#dir, REMEMBERED_NAMES.audit));
    const event = { type: "remembered", at: wallMs(), action, id, allow, rule, ...more };
    log.write(event);
    log.close();
  }
}

/** Creates the remembered answer that the person asked for. Throws if the answer cannot be remembered. */
export function rememberedAnswer(
  record: ApprovalRecord,
  { allow, wish, by }: { readonly allow: boolean; readonly wish: RememberWish; readonly by: string },
): RememberedAnswer {
  const { command, scope, session, workspace, rule, judged } = record;
  const { lasts, forMs = REMEMBERED_DEFAULT_MS, paths = "exact" } = wish;
  if (judged === null) {
    throw new NacreError(
      "invalid_input",
      `The answer to ${record.id} cannot be remembered: the policy does not know the effect of this command well enough to recognize it again. Answer without remembering.`,
    );
  }
  if (lasts !== "session" && lasts !== "workspace")
    throw new NacreError(
      "invalid_input",
      `An answer lasts for the session or the workspace, not for ${excerpt(lasts)}.`,
    );
  if (lasts === "session" && session === null)
    throw new NacreError(
      "invalid_input",
      `${record.id} is not a command of a session. Remember the answer for the workspace instead.`,
    );
  if (!(forMs > 0) || forMs > REMEMBERED_MAX_MS)
    throw new NacreError(
      "invalid_input",
      `An answer can be remembered for at most ${REMEMBERED_MAX_MS / 86_400_000} days; it must be more than 0.`,
    );
  const now = wallMs();
  return {
    id: newId("rem"),
    allow,
    lasts,
    paths,
    ...{ command, scope, session, workspace, rule, judged, by },
    approval: record.id,
    created_at: new Date(now).toISOString(),
    until: new Date(now + forMs).toISOString(),
  };
}

export function rememberedEntry({ judged, ...answer }: RememberedAnswer): RememberedEntry {
  return {
    ...answer,
    workspace: wirePath(answer.workspace),
    rules: [...new Set(judged.flatMap(({ rules }) => rules))],
    programs: [...new Set(judged.map(({ program }) => program))],
  };
}

function isInScope(answer: RememberedAnswer, { scope, session, workspace }: Wanted): boolean {
  if (answer.lasts === "workspace") return answer.workspace === workspace;
  return answer.scope === scope && answer.session === session && session !== null;
}
