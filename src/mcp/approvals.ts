// Asks the person behind an MCP client. Both protocol eras work the same way here: the first round of a call
// returns a question instead of a result, the client (or, for the older era, the SDK) comes back with the
// answer in a second round. What is remembered in between stays on this side, so that an answer counts once
// and only for the command it was given for.
import { randomUUID } from "node:crypto";
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { MCP_QUESTIONS_MAX_COUNT } from "../support/limits.ts";
import type { ApprovalRequest } from "../tool/context.ts";

/** One round of one call. */
export interface Round {
  approve(request: ApprovalRequest): Promise<boolean>;
  /** Set if the call has to be put to a person first; it has run nothing then. */
  question(): InputRequiredResult | undefined;
}

const KEY = "approval";

export class Approvals {
  /** Commands that somebody is being asked about, by what the client has to send back. */
  readonly #asked = new Map<string, string>();

  round({ mcpReq }: ServerContext): Round {
    let open: ApprovalRequest | undefined;
    return {
      approve: async (request) => {
        const state = mcpReq.requestState<unknown>();
        if (typeof state === "string" && this.#asked.get(state) === request.command) {
          this.#asked.delete(state);
          const answer = inputResponse(mcpReq.inputResponses, KEY);
          // Whatever is not a clear yes is a no, and final: a client without a person would be asked for ever.
          return answer.kind === "elicit" && answer.action === "accept";
        }
        open = request;
        return false;
      },
      question: () => open && this.#ask(open),
    };
  }

  #ask(request: ApprovalRequest): InputRequiredResult {
    const state = randomUUID();
    this.#asked.set(state, request.command);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MCP_QUESTIONS_MAX_COUNT && oldest !== undefined) this.#asked.delete(oldest);
    const message = wordsFor(request);
    // No fields: to accept is to approve.
    const requestedSchema = { type: "object", properties: {} } as const;
    return inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema }) },
      requestState: state,
    });
  }
}

/** Whether the client can put a form before a person. What it says about itself is not checked by the SDK. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = memberOf(capabilities, "elicitation");
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return memberOf(elicitation, "form") !== undefined || memberOf(elicitation, "url") === undefined;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function wordsFor({ command, rule, reason, alternative }: ApprovalRequest): string {
  const instead = alternative === undefined ? "" : `\nInstead: ${alternative}`;
  return `Run this command?\n\n${command}\n\n${reason} (rule ${rule})${instead}`;
}
