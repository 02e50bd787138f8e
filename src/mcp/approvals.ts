// Asks the person behind an MCP client, in both protocol eras (mcp-server.ts).
//
//   older era   The server sends a request while the call waits. If another process answers first, the server cancels
//               this request.
//   newer era   The first round of a call returns a question instead of a result, and the client sends the answer in a
//               second round. The server stores the question, so that an answer is valid only once.
//
// An answer is valid only for what the person saw: command, directory, session, background flag, rule, reason and
// effects. If one of them changes before the command starts, the server asks again.

import { randomUUID } from "node:crypto";
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { summaryLines } from "../preview/summarize-preview.ts";
import { wallMs } from "../support/clock.ts";
import { defined } from "../support/defined.ts";
import { MCP_QUESTION_GRACE_MS, MCP_QUESTIONS_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import {
  AnswerComesLater,
  type ApprovalAnswer,
  type ApprovalAsking,
  type ApprovalRequest,
  isSameRequest,
} from "../tool/context.ts";

/** One round of one call. */
export interface Round {
  /** The question that this round answers. */
  readonly asked?: ApprovalRequest;
  approve(request: ApprovalRequest, asking: ApprovalAsking): Promise<ApprovalAnswer>;
  /** The question to send instead of a result, if there is one. If so, the call has not run anything. */
  question(): InputRequiredResult | undefined;
}

interface OpenQuestion {
  readonly request: ApprovalRequest;
  readonly rememberable: boolean;
}

const KEY = "approval";
/** Where the answer came from. */
const BY = "elicitation";

export class Approvals {
  /** Open questions, by the state that the client sends back. */
  readonly #asked = new Map<string, ApprovalRequest>();

  round({ mcpReq }: ServerContext): Round {
    // A request of the newer era carries an envelope.
    if (mcpReq.envelope === undefined) return { approve: pushing(mcpReq), question: () => undefined };
    const asked = this.#take(mcpReq.requestState<unknown>());
    let hasAnswer = asked !== undefined;
    let open: OpenQuestion | undefined;
    return {
      ...defined({ asked }),
      approve: async (request, { rememberable }) => {
        if (asked && hasAnswer) {
          const answer = inputResponse(mcpReq.inputResponses, KEY);
          // Treat anything but a clear yes as a final no: otherwise nacre would ask again and again if the client has
          // no person.
          if (answer.kind !== "elicit" || answer.action !== "accept") return { allow: false, by: BY };
          hasAnswer = false;
          if (isSameRequest(asked, request)) return accepted(answer.content);
        }
        open = { request, rememberable };
        // End the round here: the server then sends the question instead of a result.
        throw new AnswerComesLater("a person has to be asked first");
      },
      question: () => open && this.#ask(open),
    };
  }

  /** Removes and returns the question, because an answer is valid only once. */
  #take(state: unknown): ApprovalRequest | undefined {
    if (typeof state !== "string") return undefined;
    const asked = this.#asked.get(state);
    this.#asked.delete(state);
    return asked;
  }

  #ask({ request, rememberable }: OpenQuestion): InputRequiredResult {
    const state = randomUUID();
    this.#asked.set(state, request);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MCP_QUESTIONS_MAX_COUNT && oldest !== undefined) this.#asked.delete(oldest);
    return inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit(formFor(request, rememberable)) },
      requestState: state,
    });
  }
}

/** Sends the question to the client, and cancels it when the answer is no longer needed. */
function pushing(mcpReq: ServerContext["mcpReq"]): Round["approve"] {
  return async (request, { deadline, signal, rememberable }) => {
    const params = { mode: "form", ...formFor(request, rememberable) };
    // `signal` aborts at the deadline, before this timeout expires.
    const timeout = Math.max(0, deadline.getTime() - wallMs()) + MCP_QUESTION_GRACE_MS;
    try {
      const sent = { method: "elicitation/create", params } as const;
      const { action, content } = await mcpReq.send(sent, { signal, timeout });
      return action === "accept" ? accepted(content) : { allow: false, by: BY };
    } catch (error) {
      if (!isConnectionClosed(error)) throw error;
      // The request stays open: a person can answer elsewhere, and the next connection can repeat the call.
      throw new AnswerComesLater("the client has disconnected");
    }
  };
}

function isConnectionClosed(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
}

/** Accepting the form is the approval. The only field is optional: without it, the answer counts for this call. */
function formFor(request: ApprovalRequest, rememberable: boolean) {
  const choices = ["no", ...(request.session === null ? [] : ["session"]), "workspace"];
  const remember = {
    type: "string",
    title: "Remember for 8 hours",
    description: "Also approve later commands with the same effect, in this session or in this workspace",
    enum: choices,
    default: "no",
  } as const;
  const requestedSchema = { type: "object", properties: rememberable ? { remember } : {} } as const;
  return { message: formatQuestion(request), requestedSchema };
}

function accepted(content: unknown): ApprovalAnswer {
  const lasts = memberOf(content, "remember");
  const isWish = lasts === "session" || lasts === "workspace";
  return { allow: true, by: BY, ...(isWish ? { remember: { lasts } } : {}) };
}

/** Whether the client can show a form to a person. The SDK does not validate the capabilities of a client. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = memberOf(capabilities, "elicitation");
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return memberOf(elicitation, "form") !== undefined || memberOf(elicitation, "url") === undefined;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function formatQuestion({
  command,
  cwd,
  background,
  rule,
  reason,
  alternative,
  preview,
}: ApprovalRequest): string {
  const where = `in ${shownPath(cwd)}${background ? ", in the background" : ""}`;
  const instead = alternative === undefined ? "" : `\nInstead: ${alternative}`;
  const effects = preview ? `\n\n${summaryLines(preview).join("\n")}` : "";
  return `Run this command?\n\n${command}\n\n${where}\n${reason} (rule ${rule})${instead}${effects}`;
}
