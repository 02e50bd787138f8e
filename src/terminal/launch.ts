// Starts a command under script(1), which makes the terminal. script is the first process of the shell. It copies its
// stdin to the terminal, and the terminal's output to its stdout. Its stdin is a pipe that hosts write to, and its
// stdout is the spool.
import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { TerminalSize } from "../engine/meta.ts";
import { NacreError } from "../support/errors.ts";
import { shellQuote } from "../support/shell-quote.ts";

/** The path of script(1). Throws an error that names the package. */
export function findScript(path = process.env["PATH"] ?? "", usual = ["/usr/bin", "/bin"]): string {
  const dirs = [...usual, ...path.split(":")].filter((dir) => isAbsolute(dir));
  const found = dirs.map((dir) => join(dir, "script")).find(isExecutable);
  if (found !== undefined) return found;
  throw new NacreError(
    "unavailable",
    "A terminal needs the program script, which is not installed. It is in the package bsdutils (Debian, Ubuntu), util-linux-script or util-linux (Fedora, Arch), or util-linux-misc (Alpine). Install it, or run the command without terminal.",
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Launch {
  readonly scriptPath: string;
  readonly bashPath: string;
  /** The file with the command. */
  readonly commandFile: string;
  readonly size: TerminalSize;
}

/**
 * The argument list that runs a command in a new terminal. Uses sh to start script, because bash would read the
 * command's BASH_ENV at this point, too. script starts the program in $SHELL, which can be any program, so SHELL is
 * /bin/sh until bash starts.
 */
export function terminalArgv({ scriptPath, bashPath, commandFile, size }: Launch): string[] {
  const inside = [
    `SHELL=$__nacre_shell; [ "$SHELL" ] || unset SHELL; unset __nacre_shell LINES COLUMNS`,
    ...interactiveVariables(""),
    `stty rows ${size.rows} cols ${size.cols} iutf8 2>/dev/null`,
    `exec ${shellQuote(bashPath)} ${shellQuote(commandFile)}`,
  ];
  const outside = [
    `__nacre_shell=\${SHELL-}; SHELL=/bin/sh; export __nacre_shell SHELL`,
    `exec ${shellQuote(scriptPath)} -qec ${shellQuote(inside.join("\n"))} /dev/null`,
  ];
  return ["/bin/sh", "-c", outside.join("\n")];
}

/** The defaults that prevent programs from asking questions (environment.ts). In a terminal, a program may ask. */
const NOT_INTERACTIVE = [
  ["TERM", "dumb", "xterm-256color"],
  ["GIT_EDITOR", "true", null],
  ["GIT_TERMINAL_PROMPT", "0", null],
  ["DEBIAN_FRONTEND", "noninteractive", null],
] as const;

/**
 * Lines of sh that remove these defaults but keep every other value. The state of a session contains the defaults too,
 * so its script needs the same lines. `prefix`: text before each builtin.
 */
export function interactiveVariables(prefix: "" | "\\builtin "): string[] {
  return NOT_INTERACTIVE.map(([name, value, other]) => {
    const change = other === null ? `unset ${name}` : `export ${name}=${other}`;
    return `case \${${name}-${other === null ? "" : value}} in ${value}) ${prefix}${change} ;; esac`;
  });
}
