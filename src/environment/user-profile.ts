// The environment that a user's shell profile sets up: the files of the profile, the text that makes the shell print
// its variables, and the parser of that output. This code is pure; engine/run-profile.ts runs the shell.
import { basename, join } from "node:path";
import { shellQuote } from "../support/shell-quote.ts";

/** The files that can change the result, for a shell with this path. Some of them may not exist. */
export function profileFiles(
  shellPath: string,
  env: Readonly<Record<string, string | undefined>>,
  workingDir: string,
): string[] {
  const home = env["HOME"] ?? "/";
  const inHome = (...names: readonly string[]) => names.map((name) => join(home, name));
  const common = ["/etc/environment", "/etc/profile", join(workingDir, ".envrc")];
  switch (basename(shellPath)) {
    case "bash":
      return [
        ...common,
        "/etc/bash.bashrc",
        ...inHome(".bash_profile", ".bash_login", ".profile", ".bashrc", ".bash_aliases"),
      ];
    case "zsh": {
      const own = env["ZDOTDIR"] ?? home;
      const names = ["zshenv", "zprofile", "zshrc", "zlogin"];
      return [...common, ...names.flatMap((name) => [`/etc/zsh/${name}`, join(own, `.${name}`)])];
    }
    case "fish":
      return [...common, ...inHome(".config/fish/config.fish")];
    default:
      return [...common, ...inHome(".profile", ".shrc", ".kshrc", ".mkshrc")];
  }
}

/** The text that the shell runs after its profile. It writes the variables to this file, separated by NUL. */
export function profileQuestion(shellPath: string, answerFile: string): string {
  const print = `/usr/bin/env -0 >${shellQuote(answerFile)}`;
  // Tools such as direnv set their variables before the prompt, which this shell never shows.
  const name = basename(shellPath);
  if (name === "bash")
    return `for __nacre_hook in "\${PROMPT_COMMAND[@]}"; do eval "$__nacre_hook"; done; ${print}`;
  if (name === "zsh") return `for __nacre_hook in $precmd_functions; do $__nacre_hook; done; ${print}`;
  return print;
}

/** The variables in the answer. Undefined if the answer is incomplete. */
export function readAnswer(answer: Buffer): Record<string, string> | undefined {
  if (answer.length === 0 || answer.at(-1) !== 0) return undefined;
  const found: Record<string, string> = Object.create(null);
  for (const pair of answer.toString("utf8").split("\0")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at));
    if (name !== "" && !OF_THE_SHELL.has(name) && !name.startsWith("NACRE_"))
      found[name] = pair.slice(at + 1);
  }
  return found;
}

/** Variables that describe the shell that ran the profile, not the user. */
const OF_THE_SHELL = new Set([
  "_",
  "SHLVL",
  "PWD",
  "OLDPWD",
  "TERM",
  "PS1",
  "PROMPT_COMMAND",
  "__nacre_hook",
]);
