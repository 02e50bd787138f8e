// Replaces the SDK's shims in the bundled program (see tsdown.config.ts). The SDK's shims load a JSON Schema validator
// of 300 kB at every start. nacre does not need it, because its tools validate their arguments.
export { default as process } from "node:process";
export { TrustingValidator as DefaultJsonSchemaValidator } from "./trusting-validator.ts";
