// Typed events for a host: every call, verdict, approval, start, end and kill. nacre does not wait for a listener. If a
// listener throws, the other listeners and the command continue.

export interface NacreEvents {
  /** A call started. The arguments are not validated. */
  readonly call: { readonly tool: string; readonly arguments: unknown } & EventOrigin;
  /** A call returned. */
  readonly result: {
    readonly tool: string;
    readonly success: boolean;
    readonly code?: string;
    readonly durationMs: number;
  } & EventOrigin;
  /** The policy judged a command. */
  readonly verdict: {
    readonly command: string;
    readonly verdict: "allow" | "ask" | "deny";
    readonly rule: string | null;
    readonly reason: string;
  } & EventOrigin;
  /** A call got the answer to its request, from a person or a remembered answer. */
  readonly approval: {
    readonly command: string;
    readonly rule: string;
    readonly approved: boolean;
    /** The id of the request, or of the remembered answer. */
    readonly id: string;
    /** Where the answer came from: "elicitation", "terminal", "nacre approve", "page", "remembered answer", … */
    readonly by: string;
  } & EventOrigin;
  /** A shell started. */
  readonly start: {
    readonly id: string;
    readonly command: string;
    readonly workingDir: string;
    readonly durable: boolean;
  } & EventOrigin;
  /** A shell ended. */
  readonly end: {
    readonly id: string;
    readonly status: string;
    readonly exitCode: number | null;
    readonly signal: string | null;
    readonly durationMs: number;
  } & EventOrigin;
  /** nacre killed a shell. `signalled` counts the processes that got a signal; `survivors` lists PIDs. */
  readonly kill: {
    readonly id: string;
    readonly by: string;
    readonly signalled: number;
    readonly survivors: readonly number[];
  } & EventOrigin;
  /** Only with `remote`: the link has been lost for a second, or is restored. Calls wait meanwhile. */
  readonly link: {
    readonly state: "lost" | "restored";
    readonly url: string;
    /** How long the link has been lost. */
    readonly downMs: number;
  } & EventOrigin;
}

interface EventOrigin {
  readonly scope?: string;
  readonly session?: string;
}

export type EventName = keyof NacreEvents;

export const EVENT_NAMES = [
  "call",
  "result",
  "verdict",
  "approval",
  "start",
  "end",
  "kill",
  "link",
] as const satisfies readonly EventName[];

/** One event with its name and its time in milliseconds since the epoch. */
export type NacreEvent = {
  [Name in EventName]: { readonly type: Name; readonly at: number } & NacreEvents[Name];
}[EventName];

export type EventListener<Name extends EventName> = (event: Extract<NacreEvent, { type: Name }>) => void;

export class Events {
  readonly #listeners = new Map<EventName, Set<(event: NacreEvent) => void>>();

  /** Returns a function that removes the listener. */
  on<Name extends EventName>(type: Name, listener: EventListener<Name>): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    const added = listener as (event: NacreEvent) => void;
    listeners.add(added);
    return () => void listeners.delete(added);
  }

  emit<Name extends EventName>(type: Name, event: NacreEvents[Name]): void {
    const listeners = this.#listeners.get(type);
    if (!listeners?.size) return;
    const complete = Object.freeze({ type, at: Date.now(), ...event }) as unknown as NacreEvent;
    for (const listener of listeners) {
      try {
        listener(complete);
      } catch (error) {
        // A bug in the host's listener must not end a command, but it must be visible.
        process.emitWarning(`A listener of nacre's "${type}" events failed: ${String(error)}`);
      }
    }
  }
}

/** The origin of a call, for events. */
export function callOrigin({
  scope = "default",
  sessionId,
}: {
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
}): { readonly scope: string; readonly session?: string } {
  return sessionId === undefined ? { scope } : { scope, session: sessionId };
}
