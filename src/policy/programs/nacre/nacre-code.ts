// Code that uses nacre as a library. The code must not choose looser rules than those that apply to this command.

import { describeApprovalPageCode } from "./approval-request.ts";

/** The package nacre, a path into it, or one of its exports. */
const USES =
  /["'`](?:npm:)?nacre(?:@[^"'`/]*)?(?:\/[\w./-]*)?["'`]|\/nacre\/(?:dist|src)\/|\bcreateToolkit\s*\(|\bcreateMcpServer\s*\(/;
/** The CLI of the package: its options come from process.argv, which the policy does not know. */
const PROGRAM = /["'`][^"'`\n]*\bnacre\/[\w./-]*cli\/[\w./-]*["'`]/;
const POLICY = /["'`]?\bpolicy["'`]?\s*:\s*(?:["'`](\w*)["'`]|(\w+))/g;
const SANDBOX_OFF = /["'`]?\bsandbox["'`]?\s*:\s*["'`]off["'`]/;
/** Matches options that replace rules or approvals. A name without a value is short for `name: name`. */
const REPLACES = /["'`]?\b(policyFile|rules|judge|approve|allowUnsandboxed)["'`]?\s*[:,}(]/;

/** How the code loosens nacre's rules, or null. */
export function loosenedByCode(code: string): string | null {
  const onPage = describeApprovalPageCode(code);
  if (onPage !== null) return onPage;
  if (!USES.test(code)) return null;
  if (PROGRAM.test(code)) return "starts nacre with options that are known only at run time";
  for (const [, literal, name] of code.matchAll(POLICY)) {
    if (name !== undefined) return "uses nacre with a policy that is known only at run time";
    if (literal !== "standard" && literal !== "cautious") return `uses nacre with the policy ${literal}`;
  }
  if (SANDBOX_OFF.test(code)) return "uses nacre without a sandbox";
  const [, option] = REPLACES.exec(code) ?? [];
  return option === undefined ? null : `uses nacre with the option ${option}`;
}
