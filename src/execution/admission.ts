// The only way to turn text into a command that may run. Nothing starts without an Admitted, and only this module
// creates one:
//
//   admit(wanted, context, options)
//     checkIsCommand       refuses text that is blank, JSON or contains NUL (command-text.ts)
//     judge                asks the policy, given the directory and session state the command would run with
//     checkSyntax          refuses text that neither nacre's parser nor bash can read
//     askFor               asks a person, if the policy requires it (approval.ts)
//   -> Admitted            execution/start-command.ts calls use() once to get the command
//   isCurrent, readmit     repeat the checks if the session has changed before the command's turn (start-command.ts)
import { TERMINAL_RULE } from "../policy/rules/terminal-input.ts";
import type { SessionFacts } from "../policy/shell-model/session-facts.ts";
import type { Verdict } from "../policy/verdict.ts";
import { previewOf } from "../preview/summarize-preview.ts";
import type { Session } from "../session/session.ts";
import { MEANING_VARIABLES } from "../session/session-meaning.ts";
import type { Turn } from "../session/session-options.ts";
import { throwIfAborted } from "../support/abort.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { callOrigin } from "../support/events.ts";
import { type ApprovalRequest, type ExecutionContext, isSameRequest } from "../tool/context.ts";
import { askFor, requestFor } from "./approval.ts";
import { checkIsCommand } from "./command-text.ts";
import type { DiskLinks } from "./disk-links.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import type { Judging, Moment } from "./judging.ts";
import { explainRefusal, Refusal } from "./refusal.ts";
import { scopeOf } from "./scope.ts";
import { checkSyntax } from "./syntax-check.ts";
import { waysToAllow } from "./ways-to-allow.ts";

/** The session in which a command is to run. */
export interface SessionTarget {
  readonly id: string;
  /** The directory that the call names; undefined for the session's directory. */
  readonly named: string | undefined;
  /** The session, if it exists yet. */
  find(): Session | undefined;
  /** Creates the session if there is none. */
  open(): Session;
}

/**
 * The directory in which a command would run now, and the session state that affects its meaning (null without a
 * session).
 */
export type SessionSnapshot = Pick<Turn, "directory" | "meaning">;

export interface WantedCommand {
  readonly command: string;
  readonly background: boolean;
  /** Null for a command outside a session. */
  readonly session: SessionTarget | null;
  /** What the command does, in the agent's own words. A person sees this text; a remembered answer ignores it. */
  readonly description?: string;
  /** Whether the command gets a terminal. */
  readonly terminal?: boolean;
  /** The directory of a command outside a session. @default the directory of the call */
  readonly cwd?: string;
  /**
   * Whether the command's effects go to a preview. If so, nacre asks a person before the commit, not before the run.
   */
  readonly isPreview?: boolean;
}

interface Admission {
  readonly wanted: WantedCommand;
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  /** The session at the time the command was judged. */
  readonly snapshot: SessionSnapshot;
  /** The links that the verdict depends on. */
  readonly links: DiskLinks;
  readonly verdict: Verdict;
  /** The request that a person has approved. */
  readonly approved: ApprovalRequest | undefined;
  /** How long the call has waited for answers. */
  readonly waitedMs: number;
}

let create: (admission: Admission) => Admitted;
let admissionOf: (admitted: Admitted) => Admission;

/** Permission to run this command, in this directory and this session, once. */
export class Admitted {
  readonly command: string;
  /** The directory that the command was judged for. */
  readonly cwd: string;
  /** Null for a command outside a session. */
  readonly session: string | null;
  readonly background: boolean;
  readonly terminal: boolean;
  /** "ask": a person has approved the command, or will be asked before its preview is committed. */
  readonly verdict: "allow" | "ask";
  /** Whether the command may run only in a preview. */
  readonly isPreview: boolean;
  readonly rule: string | null;
  readonly #admission: Admission;
  #isUsed = false;

  private constructor(admission: Admission) {
    const { wanted, snapshot, verdict } = admission;
    this.command = wanted.command;
    this.cwd = snapshot.directory;
    this.session = wanted.session?.id ?? null;
    this.background = wanted.background;
    this.terminal = wanted.terminal ?? false;
    this.verdict = verdict.verdict === "allow" ? "allow" : "ask";
    this.isPreview = wanted.isPreview ?? false;
    this.rule = verdict.rule;
    this.#admission = admission;
  }

  static {
    create = (admission) => new Admitted(admission);
    admissionOf = (admitted) => admitted.#admission;
  }

  /** How long the call has waited for a person. */
  get waitedMs(): number {
    return this.#admission.waitedMs;
  }

  /** Why the policy asks about the command; null if it allows it. */
  get ask(): Pick<ApprovalRequest, "rule" | "reason" | "alternative" | "severity" | "span"> | null {
    const { wanted, snapshot, verdict } = this.#admission;
    if (verdict.verdict === "allow") return null;
    const { rule, reason, alternative, severity, span } = requestFor(
      wanted,
      verdict,
      snapshot.directory,
      () => [],
    );
    return { rule, reason, severity, span, ...(alternative === undefined ? {} : { alternative }) };
  }

  get target(): SessionTarget | null {
    return this.#admission.wanted.session;
  }

  get context(): ExecutionContext {
    return this.#admission.context;
  }

  get options(): ResolvedExecutionOptions {
    return this.#admission.options;
  }

  /** Returns the command. Throws if called again: an admission permits only one start. */
  use(): string {
    if (this.#isUsed)
      throw new NacreError(
        "internal",
        "This admission has already started its command: admit the command again.",
      );
    this.#isUsed = true;
    return this.command;
  }
}

/** Throws if the command may not run. */
export async function admit(
  wanted: WantedCommand,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<Admitted> {
  checkIsCommand(wanted.command);
  return await decide({ wanted, context, options });
}

/** Whether the command would still run as it was judged: in the same directory, with the same state and links. */
export function isCurrent(admitted: Admitted, now?: SessionSnapshot): boolean {
  const { wanted, context, snapshot, links } = admissionOf(admitted);
  const { directory, meaning } = now ?? snapshotOf(wanted, context);
  // The session creates a new object for its state whenever a part of it may have changed.
  return meaning === snapshot.meaning && directory === snapshot.directory && links.isCurrent();
}

/** Judges the command again, with the current session. An earlier approval still counts if the request is the same. */
export async function readmit(admitted: Admitted): Promise<Admitted> {
  return await decide(admissionOf(admitted));
}

/** Returns the policy's verdict on a command as if it ran now. Runs nothing and asks no person. */
export function verdictOn(
  command: string,
  session: SessionTarget | null,
  context: ExecutionContext,
  judging: Judging,
): Verdict {
  checkIsCommand(command);
  const moment = momentOf({ session }, snapshotOf({ session }, context), context);
  return judging.judge(command, judging.facts(context.workingDir, moment));
}

/** Whether an error means that the caller cancelled the call. */
export function isCancelled(error: unknown, { signal }: ExecutionContext): boolean {
  return signal?.aborted === true && !(error instanceof NacreError);
}

/** The output of a dry run. */
export function dryRunLine({ command }: Admitted): string {
  return `[Dry Run] Would execute: ${command}`;
}

async function decide(
  before: Pick<Admission, "wanted" | "context" | "options"> &
    Partial<Pick<Admission, "approved" | "waitedMs">>,
): Promise<Admitted> {
  const { wanted, context, options } = before;
  const judging = await options.loadJudging();
  const snapshot = snapshotOf(wanted, context);
  const facts = judging.facts(context.workingDir, momentOf(wanted, snapshot, context));
  const verdict = judging.judge(wanted.command, facts);
  options.events.emit("verdict", {
    command: wanted.command,
    verdict: verdict.verdict,
    rule: verdict.rule,
    reason: verdict.reason ?? "",
    ...callOrigin(context),
  });
  const { links } = facts;
  const { approved, waitedMs: waitedBefore = 0 } = before;
  const admission = { wanted, context, options, snapshot, links, verdict, approved, waitedMs: waitedBefore };
  const earlier = approved ?? context.asked;
  if (verdict.verdict === "allow" && !earlier) return create(admission);
  const { directory: cwd } = snapshot;
  if (verdict.verdict === "deny") {
    const words = `Command blocked as dangerous: ${explainRefusal(verdict)} Nothing was run.`;
    throw new Refusal("policy_denied", words, verdict, cwd);
  }
  if (wanted.isPreview) return create(admission);
  // An approval for one directory does not count for another one, even if the policy would allow the command there.
  const why = verdict.verdict === "ask" ? withTerminal(verdict) : (earlier ?? verdict);
  const { command } = wanted;
  const preview = previewOf(options.manager().previews, { command, cwd, scope: scopeOf(context) });
  const request = requestFor(wanted, why, cwd, () => judging.effects(command, facts), preview);
  if (approved && isSameRequest(approved, request)) return create(admission);
  // Do not ask a person about a command that bash would refuse anyway.
  if (verdict.findings.some(({ rule }) => rule === "unparsed"))
    await checkSyntax(wanted.command, { workingDir: context.workingDir, scope: scopeOf(context) }, options);
  const waysToAllowIt = () => waysToAllow(wanted.command, verdict, facts, judging);
  if (context.dryRun && !context.approve) {
    const words = `Command needs approval, and no person can be asked here: ${explainRefusal(request)} ${waysToAllowIt()} Nothing was run.`;
    throw new Refusal("approval_refused", words, request, cwd);
  }
  const startedAt = monotonicMs();
  await askFor({
    ...{ request, context, options, waysToAllow: waysToAllowIt, entryPoint: judging.entryPoint },
    judged: judging.judgedEffects(wanted.command, verdict, facts),
  });
  const waitedMs = waitedBefore + monotonicMs() - startedAt;
  // The caller may have cancelled the call while the person decided.
  throwIfAborted(context.signal);
  return create({ ...admission, approved: request, waitedMs });
}

/**
 * If another finding decides the verdict, adds to its reason that the command gets a terminal, because the person
 * must know this. The approval then counts only for a start with a terminal.
 */
function withTerminal(verdict: Verdict): Verdict {
  const { rule, reason, findings } = verdict;
  const isTerminal = findings.some((one) => one.rule === TERMINAL_RULE.id && one.liftedBy === null);
  if (!isTerminal || rule === TERMINAL_RULE.id) return verdict;
  return { ...verdict, rule: TERMINAL_RULE.id, reason: `${reason ?? ""} ${TERMINAL_RULE.reason}` };
}

/** The current state of the session. */
function snapshotOf(
  { session: target, cwd }: Pick<WantedCommand, "session" | "cwd">,
  context: ExecutionContext,
): SessionSnapshot {
  const session = target?.find();
  if (!session) return { directory: cwd ?? context.workingDir, meaning: null };
  return { directory: session.directoryFor(target?.named), meaning: session.meaning };
}

function momentOf(
  { terminal = false }: Pick<WantedCommand, "session" | "terminal">,
  { directory, meaning }: SessionSnapshot,
  context: ExecutionContext,
): Moment {
  const session = withVariables(meaning, context.env);
  return { cwd: directory, ...(session ? { session } : {}), ...(terminal ? { terminal } : {}) };
}

/** Variables of the call override those of the session. */
function withVariables(meaning: SessionFacts | null, env: ExecutionContext["env"] = {}): SessionFacts | null {
  const given = Object.entries(env).filter(([name]) => MEANING_VARIABLES.has(name));
  if (given.length === 0) return meaning;
  const { variables, ...rest } = meaning ?? NO_STATE;
  return { ...rest, variables: { ...variables, ...Object.fromEntries(given) } };
}

const NO_STATE: SessionFacts = { functions: [], aliases: {}, hashed: {}, variables: {}, shellOptions: [] };
