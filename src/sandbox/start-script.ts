// Writes the script that the waiting bash of a slot reads before its command (engine/hook.sh). With this script bash
// sets its limits and executes the sandbox. Pure.
import { isAbsolute } from "node:path";
import { shellQuote } from "../support/shell-quote.ts";
import type { WrappedStart } from "./bubblewrap.ts";
import type { LimitPlan } from "./resource-limits.ts";

interface StartParts {
  readonly limits: LimitPlan | undefined;
  readonly wrapped: WrappedStart | undefined;
  /** The shell's own directory. */
  readonly dir: string;
  /** Pipes that the sandbox inherits, opened by their paths in /proc. */
  readonly pipes: readonly InheritedPipe[];
}

/** A pipe of another process that the first process in the sandbox inherits. */
export interface InheritedPipe {
  readonly fd: number;
  readonly path: string;
}

export function startScript({ limits, wrapped, dir, pipes }: StartParts): string {
  const fault = (why: string) =>
    `{ builtin printf '${why}\\n' >${shellQuote(`${dir}/fault`)}; builtin exit 126; }`;
  const lines: string[] = [];
  for (const file of limits?.groups ?? []) {
    lines.push(`builtin printf %s "$BASHPID" 2>/dev/null >${shellQuote(file)} || ${fault("limits")}`);
  }
  for (const limit of limits?.rlimits ?? []) {
    lines.push(`builtin ulimit ${limit} 2>/dev/null || ${fault("limits")}`);
  }
  if (wrapped) {
    const files = wrapped.descriptors.map(({ fd, mode, file }) => {
      const path = isAbsolute(file) ? file : `${dir}/${file}`;
      return `${fd}${mode === "read" ? "<" : ">"}${shellQuote(path)}`;
    });
    const inherited = pipes.map(({ fd, path }) => `${fd}<>${shellQuote(path)}`);
    const [program = "", ...args] = wrapped.argv;
    lines.push(...LOADER_VARIABLES);
    lines.push("builtin shopt -s execfail");
    const command = [
      ...wrapped.stage.map(shellQuote),
      shellQuote(program),
      `"\${__nacre_loader[@]}"`,
      ...args.map(shellQuote),
      ...inherited,
      ...files,
    ];
    // Not `builtin exec`, which would undo the redirections.
    lines.push(`exec ${command.join(" ")}`);
    lines.push(fault("sandbox"));
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Passes loader variables to the command and removes them from bwrap's own environment. bwrap runs outside the sandbox,
 * and LD_LIBRARY_PATH can name a directory that the command can write.
 */
const LOADER_VARIABLES = [
  "__nacre_loader=()",
  `for __nacre_name in "\${!LD_@}"; do`,
  `  __nacre_loader+=(--setenv "$__nacre_name" "\${!__nacre_name}")`,
  '  builtin export -n "$__nacre_name"',
  "done",
];
