// Asks the person behind an MCP client. Both protocol eras work the same way here: the first round of a call
// returns a question instead of a result, the client (or, for the older era, the SDK) comes back with the
// answer in a second round. What was asked stays on this side, so that an answer counts once, and only for what was
// shown: the command, its directory, session, background flag, rule and reason. If one of them is another in the
// second round, or when the command's turn comes, the person is asked again.
import { randomUUID } from "node:crypto";
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { MCP_QUESTIONS_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import { type ApprovalRequest, isSameRequest } from "../tool/context.ts";

/** One round of one call. */
export interface Round {
  /** What this round brings an answer to, if it brings one. */
  readonly asked?: ApprovalRequest;
  approve(request: ApprovalRequest): Promise<boolean>;
  /** Set if the call has to be put to a person first; it has run nothing then. */
  question(): InputRequiredResult | undefined;
}

const KEY = "approval";

export class Approvals {
  /** Questions that are open, by what the client has to send back. */
  readonly #asked = new Map<string, ApprovalRequest>();

  round({ mcpReq }: ServerContext): Round {
    const asked = this.#take(mcpReq.requestState<unknown>());
    let hasAnswer = asked !== undefined;
    let open: ApprovalRequest | undefined;
    return {
      ...(asked ? { asked } : {}),
      approve: async (request) => {
        if (asked && hasAnswer) {
          const answer = inputResponse(mcpReq.inputResponses, KEY);
          // Whatever is not a clear yes is a no, and final: a client without a person would be asked for ever.
          if (answer.kind !== "elicit" || answer.action !== "accept") return false;
          hasAnswer = false;
          if (isSameRequest(asked, request)) return true;
        }
        open = request;
        // Not a no: this round ends here, and what it comes to is not shown.
        throw new Error("a person has to be asked first");
      },
      question: () => open && this.#ask(open),
    };
  }

  /** The question that a client answers. An answer counts once. */
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

function wordsFor({ command, cwd, background, rule, reason, alternative }: ApprovalRequest): string {
  const where = `in ${shownPath(cwd)}${background ? ", in the background" : ""}`;
  const instead = alternative === undefined ? "" : `\nInstead: ${alternative}`;
  return `Run this command?\n\n${command}\n\n${where}\n${reason} (rule ${rule})${instead}`;
}
