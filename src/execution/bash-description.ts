// What a model is told about the Bash tool. Written for a reader that guesses: what it does, what it does
// not, and what to use instead.

import { timingDescription } from "./call-timing.ts";
import { sandboxWords } from "./confinement-notes.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

export function bashDescription(options: ResolvedExecutionOptions): string {
  const { maxOutputChars } = options;
  return `Runs a bash command in a session and returns its output and exit code.

Calls run one after another in one bash that lives on: cd, variables, functions, aliases, options and jobs carry over to the next call. A command that ends that bash (exit, a failure after set -e, a timeout) costs nothing but its jobs: the next call goes on from the state before it, and the result says restarted. Do NOT end a command with exit; to stop at a failure chain with &&, or use a subshell ( ).
stdin is empty and there is no terminal: programs that ask questions get end-of-file. Do NOT start editors, pagers or REPLs; pass flags such as --yes instead.
Quote paths with spaces. && stops at the first failure, ; goes on.

${timingDescription(options)}
For servers, watchers and anything that does not end by itself set run_in_background: true. It starts where the session is, with its exports and functions; nothing flows back. It returns a bash_id at once; read with BashOutput, end with KillShell. The timeout does not apply to it. Do NOT append & for this, and do NOT poll with sleep: BashOutput can wait for a line or for the end.
A command that leaves processes behind (with &) returns at once; the result names them, and wait, jobs and kill %1 work in a later call.

Output over ${maxOutputChars} characters keeps its beginning and its end, and names the file that holds all of it. stderr follows stdout after a line [stderr].
A non-zero exit code is reported as a failure, with the output. Commands that would destroy the system are refused with the reason and a safer way; do NOT try to get around that by rewriting them.
To read, search or edit files, prefer tools made for it, if you have them.${sandboxWords(options)}`;
}
