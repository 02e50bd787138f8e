// bash names its script in its messages. Outside a session, the script is a file of nacre, whose name means nothing
// to the reader. So this file changes the messages: they then begin like those of `bash -c`.
import type { ShellProcess } from "../shell/shell-process.ts";
import type { OutputParts } from "./render.ts";

/** Returns `bash: line 1: …` for `/state/shells/shell_1/cmd: line 1: …`. */
export function ownScriptText(text: string, { started }: ShellProcess): string {
  return text.replaceAll(`${started.files.command}: `, "bash: ");
}

/** The output of a shell, with ownScriptText applied. */
export function ownScriptParts(shell: ShellProcess): OutputParts {
  const { stdout, stderr } = shell.outputParts;
  const first = (text: string) => ownScriptText(text, shell);
  return { stdout: { ...stdout, first }, stderr: { ...stderr, first } };
}
