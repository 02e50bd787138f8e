// What a result says about what its command may touch.
import { type Confinement, describeConfinement } from "../spool/confinement.ts";

/** The `sandbox` of a result: every one says what it ran under. */
export function sandboxOf(confinement: Confinement | undefined): string {
  return confinement ? describeConfinement(confinement) : "off";
}
