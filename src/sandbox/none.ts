// The driver that confines nothing, and says so: for a sandbox that is off, or cannot be had where its owner allows
// to do without.
import type { ProbeResult, SandboxDriver, WrapPlan, WrappedStart } from "./driver.ts";

export class NoSandbox implements SandboxDriver {
  readonly name = "none";
  readonly #notEnforced: readonly string[];

  /** What was asked for and is missing, in words. */
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
