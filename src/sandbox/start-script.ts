// What a waiting bash does before its command, as a script that keeper/hook.sh reads: it takes on its limits and
// becomes the sandbox. Pure.
import { isAbsolute } from "node:path";
import type { WrappedStart } from "./driver.ts";
import type { LimitPlan } from "./limits.ts";

export interface StartParts {
  readonly limits: LimitPlan | undefined;
  readonly wrapped: WrappedStart | undefined;
  /** The shell's own directory. */
  readonly dir: string;
  /** What becomes its stdin, in place of nothing. */
  readonly stdin: string | undefined;
}

export function startScript({ limits, wrapped, dir, stdin }: StartParts): string {
  const fault = (why: string) =>
    `{ builtin printf '${why}\\n' >${quoted(`${dir}/fault`)}; builtin exit 126; }`;
  const lines: string[] = [];
  for (const file of limits?.groups ?? []) {
    lines.push(`builtin printf %s "$BASHPID" 2>/dev/null >${quoted(file)} || ${fault("limits")}`);
  }
  for (const words of limits?.rlimits ?? []) {
    lines.push(`builtin ulimit ${words} 2>/dev/null || ${fault("limits")}`);
  }
  if (wrapped) {
    const files = wrapped.descriptors.map(({ fd, mode, file }) => {
      const path = isAbsolute(file) ? file : `${dir}/${file}`;
      return `${fd}${mode === "read" ? "<" : ">"}${quoted(path)}`;
    });
    const input = stdin === undefined ? [] : [`<${quoted(stdin)}`];
    // Not through `builtin`: that would undo the redirections again.
    lines.push("builtin shopt -s execfail");
    lines.push(`exec ${[...wrapped.argv.map(quoted), ...input, ...files].join(" ")}`);
    lines.push(fault("sandbox"));
  }
  return `${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
