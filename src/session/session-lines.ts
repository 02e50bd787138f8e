// bash counts the lines of a session as one script: its messages name lines that no reader of one command has
// seen. Here they are counted from the first line of the command. Pure.

/** `firstLine` as in the result of the command. Lines of earlier commands (their functions) are left as they are. */
export function renumberLines(stderr: string, firstLine: number): string {
  const own = (all: string, head: string, line: string) => {
    const number = Number(line) - firstLine + 1;
    return number >= 1 ? `${head}${number}` : all;
  };
  return stderr
    .replace(/^((?:bash|main|environment): (?:\w+: )?line )(\d+)(?=: )/gm, own)
    .replace(/^(bash: line \d+: warning: here-document at line )(\d+)(?= )/gm, own);
}
