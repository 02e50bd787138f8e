// The driver that confines nothing: for a sandbox that is off, or unavailable while the user allows running without it.
import type { ProbeResult, SandboxDriver, WrapPlan, WrappedStart } from "./driver.ts";

export class NoSandbox implements SandboxDriver {
  readonly name = "none";
  readonly #notEnforced: readonly string[];

  /** Describes the requested protection that is missing. */
  constructor(notEnforced: readonly string[]) {
    this.#notEnforced = notEnforced;
  }

  async probe(): Promise<ProbeResult> {
    return { ok: true };
  }

  wrap(_spec: unknown, { argv }: Pick<WrapPlan, "argv">): WrappedStart {
    return {
      argv,
      descriptors: [],
      placeholders: [],
      links: [],
      confinement: { driver: this.name, profile: "off", network: "full", notEnforced: this.#notEnforced },
    };
  }
}
