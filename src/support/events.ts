// What a host can watch: every call, verdict, approval, start, end and kill, as typed events. Events only tell;
// nothing waits for a listener, and one that throws breaks nothing but itself.

export interface NacreEvents {
  /** A tool was called; its arguments as they were given. */
  readonly call: { readonly tool: string; readonly arguments: unknown } & Whose;
  /** A call has come back. */
  readonly result: {
    readonly tool: string;
    readonly success: boolean;
    readonly code?: string;
    readonly durationMs: number;
  } & Whose;
  /** The policy has decided about a command. */
  readonly verdict: {
    readonly command: string;
    readonly verdict: "allow" | "ask" | "deny";
    readonly rule: string | null;
    readonly reason: string;
  } & Whose;
  /** A person, or a program that answers for one, was asked. */
  readonly approval: { readonly command: string; readonly rule: string; readonly approved: boolean } & Whose;
  /** A shell runs. */
  readonly start: {
    readonly id: string;
    readonly command: string;
    readonly workingDir: string;
    readonly durable: boolean;
  } & Whose;
  /** It does not any more. */
  readonly end: {
    readonly id: string;
    readonly status: string;
    readonly exitCode: number | null;
    readonly signal: string | null;
    readonly durationMs: number;
  } & Whose;
  /** It was ended: how many processes got a signal, and which are still there. */
  readonly kill: {
    readonly id: string;
    readonly by: string;
    readonly signalled: number;
    readonly survivors: readonly number[];
  } & Whose;
}

interface Whose {
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
] as const satisfies readonly EventName[];

/** One event with its name and the time it happened, in milliseconds since 1970. */
export type NacreEvent = {
  [Name in EventName]: { readonly type: Name; readonly at: number } & NacreEvents[Name];
}[EventName];

export type EventListener<Name extends EventName> = (event: Extract<NacreEvent, { type: Name }>) => void;

export class Events {
  readonly #listeners = new Map<EventName, Set<(event: NacreEvent) => void>>();

  /** Returns what ends the listening. */
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
    const whole = Object.freeze({ type, at: Date.now(), ...event }) as unknown as NacreEvent;
    for (const listener of listeners) {
      try {
        listener(whole);
      } catch (error) {
        // A host's mistake must not end a command; but it should be seen.
        process.emitWarning(`A listener of nacre's "${type}" events failed: ${String(error)}`);
      }
    }
  }
}
