// Messages for the operator of the server, on stderr; stdout belongs to the protocol. NACRE_LOG=debug turns it on.

export type Log = (text: string) => void;

export function createLog(stderr: { write(text: string): unknown }, level: string | undefined): Log {
  if (level !== "debug") return () => {};
  return (text) => void stderr.write(`nacre mcp: ${text}\n`);
}
