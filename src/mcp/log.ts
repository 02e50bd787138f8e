// Log messages for the operator, on stderr: stdout belongs to the protocol. NACRE_LOG=debug turns them on.

export type Log = (text: string) => void;

export function createLog(stderr: { write(text: string): unknown }, level: string | undefined): Log {
  if (level !== "debug") return () => {};
  return (text) => void stderr.write(`nacre mcp: ${text}\n`);
}
