// The options of the engine.
import type { StateRoot } from "./state-dir.ts";

export interface EngineOptions {
  readonly root: StateRoot;
  /** The base environment of every command. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Called at each start: returns more variables for the command. Variables of the start plan override them. @default none
   */
  readonly moreVariables?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
  /** An absolute path of bash. @default the first one in PATH */
  readonly shellPath?: string | undefined;
  /** @default 2 */
  readonly poolSize?: number | undefined;
  /** Output cap of the slots in the pool. */
  readonly capBytes?: number | undefined;
  /** "best-effort" uses no tags, as on a machine without them. @default "auto" */
  readonly containment?: "auto" | "best-effort" | undefined;
}
