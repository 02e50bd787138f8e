// Reports when the link is lost and when it is restored. Does not report short interruptions.
import { monotonicMs } from "../../support/clock.ts";
import { REMOTE_LOSS_NOTICE_MS } from "../../support/limits.ts";

export interface LinkChange {
  /** "restored" is reported only after "lost". If nacre stops reconnecting, the calls fail with `remote_lost`. */
  readonly state: "lost" | "restored";
  readonly url: string;
  /** Milliseconds since the link was lost. */
  readonly downMs: number;
}

export class LinkLoss {
  readonly #url: string;
  readonly #report: (change: LinkChange) => void;
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isReported = false;

  constructor(url: string, report: (change: LinkChange) => void) {
    this.#url = url;
    this.#report = report;
  }

  /** Call this when the link has ended. */
  lost(): void {
    if (this.#timer !== undefined) return;
    this.#sinceMs = monotonicMs();
    this.#timer = setTimeout(() => {
      this.#isReported = true;
      this.#report(this.#change("lost"));
    }, REMOTE_LOSS_NOTICE_MS).unref();
  }

  /** Call this when there is a link again. */
  restored(): void {
    const wasReported = this.#isReported;
    this.end();
    if (wasReported) this.#report(this.#change("restored"));
  }

  /** Call this when nacre stops reconnecting. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isReported = false;
  }

  #change(state: LinkChange["state"]): LinkChange {
    return { state, url: this.#url, downMs: Math.round(monotonicMs() - this.#sinceMs) };
  }
}

/** The change as a sentence for a person. */
export function describeLinkChange({ state, url, downMs }: LinkChange): string {
  if (state === "lost") return `the link to ${url} is lost; reconnecting…`;
  return `the link to ${url} is restored after ${Math.round(downMs / MS_PER_SECOND)} s`;
}

const MS_PER_SECOND = 1_000;
