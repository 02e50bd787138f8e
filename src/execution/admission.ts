// The only way from a text to a command that may run. Nothing starts without an Admitted, and only this module makes one:
//
//   admit(wanted, context, options)
//     isCommand            blank, JSON or NUL: refused, it is no command
//     judge                the policy, with the directory and the session state that the command would run with
//     checkSyntax          a text that our parser cannot read, and bash neither: refused as bash would
//     ask                  a person, where the policy wants one
//   -> Admitted            execution/start-command.ts takes the command out of it, once
//   isCurrent, readmit     start-command.ts: at the command's turn the session may stand elsewhere; then judge, and ask, again
import type { SessionFacts } from "../policy/shell-model/session-facts.ts";
import type { Verdict } from "../policy/verdict.ts";
import type { Session } from "../session/session.ts";
import { MEANING_VARIABLES } from "../session/session-meaning.ts";
import { checkCommand } from "../shell/check-start.ts";
import { throwIfAborted } from "../support/abort.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { type ApprovalRequest, type ExecutionContext, isSameRequest } from "../tool/context.ts";
import type { DiskLinks } from "./disk-links.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import type { Judging, Moment } from "./judging.ts";
import { Refusal, UNNAMED_RULE, type Why } from "./refusal.ts";
import { scopeOf, whoseCall } from "./scope.ts";
import { checkSyntax } from "./syntax-check.ts";
import { waysToAllow } from "./ways-to-allow.ts";

/** The session a command is to run in. */
export interface SessionTarget {
  readonly id: string;
  /** The directory that the call names; undefined: wherever the session is. */
  readonly named: string | undefined;
  /** The session, if it exists yet. */
  find(): Session | undefined;
  /** Makes the session if there is none. */
  open(): Session;
}

export interface WantedCommand {
  readonly command: string;
  readonly background: boolean;
  /** null: a bash of its own. */
  readonly session: SessionTarget | null;
}

interface Admission {
  readonly wanted: WantedCommand;
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  readonly moment: Moment;
  /** The links that the verdict depends on. */
  readonly links: DiskLinks;
  /** Of the session at that moment; null: none yet, or no session. */
  readonly meaning: SessionFacts | null;
  readonly verdict: Verdict;
  /** What a person has said yes to. */
  readonly approved: ApprovalRequest | undefined;
}

let create: (admission: Admission) => Admitted;
let admissionOf: (admitted: Admitted) => Admission;

/** A command that may run: this text, in this directory, in this session, once. */
export class Admitted {
  readonly command: string;
  /** The directory it was judged for. */
  readonly cwd: string;
  /** null: a bash of its own. */
  readonly session: string | null;
  readonly background: boolean;
  /** "ask": a person has said yes. */
  readonly verdict: "allow" | "ask";
  readonly rule: string | null;
  readonly #admission: Admission;
  #isUsed = false;

  private constructor(admission: Admission) {
    const { wanted, moment, verdict } = admission;
    this.command = wanted.command;
    this.cwd = moment.cwd;
    this.session = wanted.session?.id ?? null;
    this.background = wanted.background;
    this.verdict = verdict.verdict === "allow" ? "allow" : "ask";
    this.rule = verdict.rule;
    this.#admission = admission;
  }

  static {
    create = (admission) => new Admitted(admission);
    admissionOf = (admitted) => admitted.#admission;
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

  /** The command, for the one start that an admission is good for. */
  use(): string {
    if (this.#isUsed)
      throw new NacreError("internal", "This admission has started its command already: admit it again.");
    this.#isUsed = true;
    return this.command;
  }
}

/** Throws what the caller is to be told where the command may not run. */
export async function admit(
  wanted: WantedCommand,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<Admitted> {
  checkIsCommand(wanted.command);
  return await decide({ wanted, context, options });
}

/** Whether the command would still run as it was judged: in the same directory, with the same session state and links. */
export function isCurrent(admitted: Admitted): boolean {
  const { wanted, context, moment, meaning, links } = admissionOf(admitted);
  // A session reports its state as a new object, and only when something in it can have changed.
  return meaningOf(wanted) === meaning && directoryOf(wanted, context) === moment.cwd && links.isCurrent();
}

/** Judges again, for the session as it is now. What a person said yes to counts if nothing of it has changed. */
export async function readmit(admitted: Admitted): Promise<Admitted> {
  return await decide(admissionOf(admitted));
}

/** What the policy says about a command as a call of now would run it. Nothing is run and no person is asked. */
export function verdictOn(
  command: string,
  session: SessionTarget | null,
  context: ExecutionContext,
  judging: Judging,
): Verdict {
  checkIsCommand(command);
  const moment = momentOf({ session }, context);
  return judging.judge(command, judging.facts(context.workingDir, moment));
}

/** Refuses what no bash command is. */
export function checkIsCommand(command: string): void {
  if (command.trim() === "")
    throw new NacreError("invalid_input", "The command is blank: there is nothing to run.");
  if (isJson(command)) {
    throw new NacreError(
      "invalid_input",
      'The command is JSON, not bash. Give the command itself as a plain string, for example "ls -la"; for several, join them with && or newlines.',
    );
  }
  checkCommand(command);
}

/** Whether an error of a call tells that its caller gave up. */
export function isCancelled(error: unknown, { signal }: ExecutionContext): boolean {
  return signal?.aborted === true && !(error instanceof NacreError);
}

/** The line of a dry run. */
export function dryRunLine({ command }: Admitted): string {
  return `[Dry Run] Would execute: ${command}`;
}

async function decide(
  before: Pick<Admission, "wanted" | "context" | "options"> & Partial<Pick<Admission, "approved">>,
): Promise<Admitted> {
  const { wanted, context, options } = before;
  const judging = await options.loadJudging();
  const moment = momentOf(wanted, context);
  const facts = judging.facts(context.workingDir, moment);
  const verdict = judging.judge(wanted.command, facts);
  options.events.emit("verdict", {
    command: wanted.command,
    verdict: verdict.verdict,
    rule: verdict.rule,
    reason: verdict.reason ?? "",
    ...whoseCall(context),
  });
  const meaning = meaningOf(wanted);
  const { links } = facts;
  const admission = { wanted, context, options, moment, links, meaning, verdict, approved: before.approved };
  const earlier = before.approved ?? context.asked;
  if (verdict.verdict === "allow" && !earlier) return create(admission);
  const { cwd } = moment;
  if (verdict.verdict === "deny") {
    const words = `Command blocked as dangerous: ${explain(verdict)} Nothing was run.`;
    throw new Refusal("policy_denied", words, verdict, cwd);
  }
  // A yes for one directory is none for another, even if the policy would not have asked about that one.
  const request = requestOf(admission, verdict.verdict === "ask" ? verdict : earlier);
  if (before.approved && isSameRequest(before.approved, request)) return create(admission);
  const why = explain(request);
  // No need to ask a person about what bash would refuse anyway.
  if (verdict.findings.some(({ rule }) => rule === "unparsed"))
    await checkSyntax(wanted.command, { workingDir: context.workingDir, scope: scopeOf(context) }, options);
  if (!context.approve) {
    const how = waysToAllow(wanted.command, verdict, facts, judging);
    const words = `Command needs approval, and no person can be asked here: ${why} ${how} Nothing was run.`;
    throw new Refusal("approval_refused", words, request, cwd);
  }
  const approved = await ask(request, context.approve, context.signal);
  const { command, rule } = request;
  options.events.emit("approval", { command, rule, approved, ...whoseCall(context) });
  if (!approved)
    throw new Refusal(
      "approval_refused",
      `A person refused the command: ${why} Nothing was run.`,
      request,
      cwd,
    );
  // A person may have taken long to answer, and the caller may have given up since.
  throwIfAborted(context.signal);
  return create({ ...admission, approved: request });
}

/** Where the command would run if it started now, and with which state. */
function momentOf(wanted: Pick<WantedCommand, "session">, context: ExecutionContext): Moment {
  const session = withVariables(meaningOf(wanted), context.env);
  return { cwd: directoryOf(wanted, context), ...(session ? { session } : {}) };
}

function directoryOf({ session }: Pick<WantedCommand, "session">, context: ExecutionContext): string {
  return session?.find()?.directoryFor(session.named) ?? context.workingDir;
}

function meaningOf({ session }: Pick<WantedCommand, "session">): SessionFacts | null {
  return session?.find()?.meaning ?? null;
}

/** The variables that the host gives to this call win over those of the session. */
function withVariables(meaning: SessionFacts | null, env: ExecutionContext["env"] = {}): SessionFacts | null {
  const given = Object.entries(env).filter(([name]) => MEANING_VARIABLES.has(name));
  if (given.length === 0) return meaning;
  const { variables, ...rest } = meaning ?? NO_STATE;
  return { ...rest, variables: { ...variables, ...Object.fromEntries(given) } };
}

const NO_STATE: SessionFacts = { functions: [], aliases: {}, hashed: {}, variables: {}, shellOptions: [] };

function requestOf({ wanted, moment }: Admission, why: Why = {}): ApprovalRequest {
  const { rule, reason, alternative } = why;
  return {
    command: wanted.command,
    rule: rule ?? UNNAMED_RULE,
    reason: reason ?? "",
    ...(typeof alternative === "string" ? { alternative } : {}),
    cwd: moment.cwd,
    session: wanted.session?.id ?? null,
    background: wanted.background,
  };
}

/** The person's answer; a caller that gives up does not wait for it. */
async function ask(
  request: ApprovalRequest,
  approve: NonNullable<ExecutionContext["approve"]>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let leave = () => {};
  const gaveUp = new Promise<false>((resolve) => {
    leave = () => resolve(false);
    signal?.addEventListener("abort", leave, { once: true });
  });
  try {
    const answer = await Promise.race([approve(request), gaveUp]);
    throwIfAborted(signal);
    // Only a plain yes is one: whatever else a callback returns must not run anything.
    return answer === true;
  } catch (error) {
    if (signal?.aborted) throw error;
    const words = `Command needs approval, and asking for it failed: ${messageOf(error)}. Nothing was run.`;
    throw new Refusal("approval_refused", words, request, request.cwd, { cause: error });
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

function explain({ rule, reason, alternative }: Why): string {
  const instead = typeof alternative === "string" ? ` Instead: ${alternative}` : "";
  return `${reason || "no reason given"} (rule ${rule ?? UNNAMED_RULE}).${instead}`;
}

// Models hand over a list of calls now and then. No bash command is a JSON list or object.
function isJson(command: string): boolean {
  const text = command.trim();
  if (!/^[[{][\s\S]*[\]}]$/.test(text)) return false;
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
