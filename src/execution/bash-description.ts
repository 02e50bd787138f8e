// The description of the Bash tool for a model: what it does, what it does not do, and what to use instead.

import { timingDescription } from "./call-timing.ts";
import { sandboxDescription } from "./confinement-notes.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

export function bashDescription(options: ResolvedExecutionOptions): string {
  const { maxOutputChars } = options;
  return `Runs a bash command in a session and returns its output and exit code.

Calls run one after another in the same bash: cd, variables, functions, aliases, options and jobs carry over to the next call. If a command ends that bash (exit, a failure after set -e, a timeout), only its jobs are lost: the next call continues with the state before the command, and the result says restarted. Do NOT end a command with exit; to stop at a failure, chain with && or use a subshell ( ).
stdin is empty and there is no terminal: programs that ask questions get end-of-file. Do NOT start editors, pagers or REPLs; pass flags such as --yes instead.
Quote paths with spaces. && stops at the first failure, ; continues.

${timingDescription(options)}
For servers, watchers and anything that does not end by itself, set run_in_background: true. It starts in the directory of the session, with its exports and functions, and cannot change the session. It returns a bash_id at once; read with BashOutput, end with KillShell. The timeout does not apply to it. Do NOT append & for this, and do NOT poll with sleep: BashOutput can wait for a line or for the end.
A command that leaves processes running (with &) returns at once; the result names them, and wait, jobs and kill %1 work in a later call.

If the output exceeds ${maxOutputChars} characters, you get its start, its end, and where all of it is. stderr follows stdout after a line [stderr].
A non-zero exit code is reported as a failure, with the output. Commands that would destroy the system are refused with the reason and a safer alternative; do NOT rewrite them to bypass the refusal.
To read, search or edit files, prefer dedicated tools if you have them.${sandboxDescription(options)}`;
}
