// Reports that the link is lost, and that it is restored. Stays silent about short cuts.
import { monotonicMs } from "../../support/clock.ts";
import { REMOTE_LOSS_NOTICE_MS } from "../../support/limits.ts";

export interface LinkChange {
  /** "restored" follows only after "lost". If nacre gives the link up, the calls fail with `remote_lost` instead. */
  readonly state: "lost" | "restored";
  readonly url: string;
  /** How long the link has been lost. */
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

  /** The link has ended. */
  lost(): void {
    if (this.#timer !== undefined) return;
    this.#sinceMs = monotonicMs();
    this.#timer = setTimeout(() => {
      this.#isReported = true;
      this.#report(this.#change("lost"));
    }, REMOTE_LOSS_NOTICE_MS).unref();
  }

  /** There is a link again. */
  restored(): void {
    const wasReported = this.#isReported;
    this.end();
    if (wasReported) this.#report(this.#change("restored"));
  }

  /** The link is given up. */
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
