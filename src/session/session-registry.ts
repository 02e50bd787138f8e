// All sessions of a manager, by scope and id. Limits the number of sessions with a bash: when another session needs a
// bash, the registry ends the bash of the session that has been idle longest. That session gets a new bash on its next
// use.
import { NacreError } from "../support/errors.ts";
import { SESSIONS_MAX_COUNT } from "../support/limits.ts";
import { Session } from "./session.ts";
import type { SessionDeps, SessionOptions } from "./session-options.ts";

export class SessionRegistry {
  readonly #deps: SessionDeps;
  readonly #max: number;
  readonly #sessions = new Map<string, Session>();

  constructor(deps: SessionDeps, max = SESSIONS_MAX_COUNT) {
    this.#deps = deps;
    this.#max = max;
  }

  /** Returns the session with this id and scope. If there is none, creates it with these options. */
  get(id: string, options: SessionOptions): Session {
    const key = keyOf(id, options);
    const known = this.#sessions.get(key);
    if (known) return known;
    const session = new Session({
      ...options,
      id,
      deps: this.#deps,
      onUse: async (user) => await this.#limitBashes(user),
      onClose: () => this.#sessions.delete(key),
    });
    this.#sessions.set(key, session);
    return session;
  }

  find(id: string, options: { readonly scope?: string }): Session | undefined {
    return this.#sessions.get(keyOf(id, options));
  }

  list({ scope }: { readonly scope?: string } = {}): Session[] {
    const all = [...this.#sessions.values()];
    return scope === undefined ? all : all.filter((session) => session.scope === scope);
  }

  async closeAll(by: string): Promise<void> {
    await Promise.all(this.list().map((session) => session.close({ by })));
  }

  async #limitBashes(user: Session): Promise<void> {
    const others = this.list().filter((session) => session !== user && session.hasBash);
    if (others.length < this.#max) return;
    const [idlest] = others.filter(({ isBusy }) => !isBusy).sort((a, b) => a.usedMs - b.usedMs);
    if (!idlest) {
      const names = others.map(({ id }) => id).join(", ");
      throw new NacreError(
        "limit_reached",
        `${others.length} sessions are busy, the most allowed at a time. Close one first: ${names}`,
      );
    }
    await idlest.rest();
  }
}

function keyOf(id: string, { scope = "default" }: { readonly scope?: string }): string {
  return `${scope}\0${id}`;
}
