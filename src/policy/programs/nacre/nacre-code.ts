// Code of other languages that uses nacre as a library: it must not choose looser rules than this command is judged by.

/** nacre by its package, by a path into it, or by what it exports. */
const USES =
  /["'`](?:npm:)?nacre(?:@[^"'`/]*)?(?:\/[\w./-]*)?["'`]|\/nacre\/(?:dist|src)\/|\bcreateToolkit\s*\(|\bcreateMcpServer\s*\(/;
/** The program of the package: its options come from process.argv, out of sight. */
const PROGRAM = /["'`][^"'`\n]*\bnacre\/[\w./-]*cli\/[\w./-]*["'`]/;
const POLICY = /["'`]?\bpolicy["'`]?\s*:\s*(?:["'`](\w*)["'`]|(\w+))/g;
const SANDBOX_OFF = /["'`]?\bsandbox["'`]?\s*:\s*["'`]off["'`]/;
/** Options that replace rules or answers. A name alone is short for `name: name`. */
const REPLACES = /["'`]?\b(policyFile|rules|judge|approve|allowUnsandboxed)["'`]?\s*[:,}(]/;

/** What loosens the rules of nacre in some code; null where nothing does. */
export function loosenedByCode(code: string): string | null {
  if (!USES.test(code)) return null;
  if (PROGRAM.test(code)) return "starts nacre with options that cannot be read here";
  for (const [, literal, name] of code.matchAll(POLICY)) {
    if (name !== undefined) return "uses nacre with a policy that is only known at run time";
    if (literal !== "standard" && literal !== "cautious") return `uses nacre with the policy ${literal}`;
  }
  if (SANDBOX_OFF.test(code)) return "uses nacre without a sandbox";
  const [, option] = REPLACES.exec(code) ?? [];
  return option === undefined ? null : `uses nacre with the option ${option}`;
}
