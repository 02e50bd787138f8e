// The errors of a client that gets no answer from the remote end: its calls are lost, or the handshake failed.
import { messageOf, NacreError } from "../../support/errors.ts";
import { isError } from "../../support/realms.ts";
import type { Welcome } from "../channel/handshake.ts";
import { fromWireError } from "../channel/wire-error.ts";
import { LinkFailure } from "../links/link-failure.ts";

/** The error of calls whose results are lost. */
export class RemoteLost extends NacreError {
  constructor(url: string, cause: string) {
    super(
      "remote_lost",
      `The connection to ${url} was lost, and with it the result: ${cause}. The command may have run; nacre does not run it again. Before you repeat it, check what it changed.`,
    );
  }
}

/** `answer`: a welcome, the reason why the link ended, or undefined after the timeout. */
export function handshakeFailure(url: string, answer: unknown): NacreError {
  if (answer === undefined)
    return new LinkFailure(`The remote end ${url} did not answer the handshake in time.`, false);
  if (isError(answer))
    return new LinkFailure(`The link to ${url} ended during the handshake: ${messageOf(answer)}`, false);
  const { state, error } = answer as Partial<Welcome>;
  if (state === undefined) return new LinkFailure(`The link to ${url} ended during the handshake.`, false);
  if (state === "refused") return fromWireError(error);
  return new RemoteLost(
    url,
    "the remote end has ended this client, because it was without a link for too long",
  );
}
