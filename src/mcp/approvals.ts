// Asks the person behind an MCP client. Both protocol eras (mcp-server.ts) work in the same way: the first round of a
// call returns a question instead of a result, and the client (or the SDK, for the older era) sends the answer in a
// second round. The server keeps the question, so that an answer is valid once and only for what the person saw:
// command, directory, session, background flag, rule and reason. If one of them changes before the command starts, the
// server asks again.
import { randomUUID } from "node:crypto";
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { defined } from "../support/defined.ts";
import { MCP_QUESTIONS_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import { type ApprovalRequest, isSameRequest } from "../tool/context.ts";

/** One round of one call. */
export interface Round {
  /** The question that this round answers. */
  readonly asked?: ApprovalRequest;
  approve(request: ApprovalRequest): Promise<boolean>;
  /** The question to send instead of a result, if there is one. The call has then not run anything. */
  question(): InputRequiredResult | undefined;
}

const KEY = "approval";

export class Approvals {
  /** Open questions, by the state that the client sends back. */
  readonly #asked = new Map<string, ApprovalRequest>();

  round({ mcpReq }: ServerContext): Round {
    const asked = this.#take(mcpReq.requestState<unknown>());
    let hasAnswer = asked !== undefined;
    let open: ApprovalRequest | undefined;
    return {
      ...defined({ asked }),
      approve: async (request) => {
        if (asked && hasAnswer) {
          const answer = inputResponse(mcpReq.inputResponses, KEY);
          // Anything but a clear yes is a final no: otherwise nacre would ask a client without a person forever.
          if (answer.kind !== "elicit" || answer.action !== "accept") return false;
          hasAnswer = false;
          if (isSameRequest(asked, request)) return true;
        }
        open = request;
        // This is not a refusal. It ends the round, whose result nacre does not send.
        throw new Error("a person has to be asked first");
      },
      question: () => open && this.#ask(open),
    };
  }

  /** Removes and returns the question: an answer is valid once. */
  #take(state: unknown): ApprovalRequest | undefined {
    if (typeof state !== "string") return undefined;
    const asked = this.#asked.get(state);
    this.#asked.delete(state);
    return asked;
  }

  #ask(request: ApprovalRequest): InputRequiredResult {
    const state = randomUUID();
    this.#asked.set(state, request);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MCP_QUESTIONS_MAX_COUNT && oldest !== undefined) this.#asked.delete(oldest);
    const message = formatQuestion(request);
    // The form has no fields: accepting it is the approval.
    const requestedSchema = { type: "object", properties: {} } as const;
    return inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema }) },
      requestState: state,
    });
  }
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

function formatQuestion({ command, cwd, background, rule, reason, alternative }: ApprovalRequest): string {
  const where = `in ${shownPath(cwd)}${background ? ", in the background" : ""}`;
  const instead = alternative === undefined ? "" : `\nInstead: ${alternative}`;
  return `Run this command?\n\n${command}\n\n${where}\n${reason} (rule ${rule})${instead}`;
}
