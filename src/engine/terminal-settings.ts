// The settings of a terminal, through a descriptor of a process that has it open. Node has no call for them, so stty reads
// and sets them.
import { runOnce } from "./run-once.ts";

export interface TerminalSettings {
  /** The kernel collects a line before the program reads it. */
  readonly isCanonical: boolean;
  /** The kernel shows what is typed. */
  readonly isEchoing: boolean;
}

/** undefined if the process is gone, or the descriptor is not a terminal. */
export async function readTerminalSettings(pid: number, fd: number): Promise<TerminalSettings | undefined> {
  const { code, stdout } = await runOnce(["stty", "-F", `/proc/${pid}/fd/${fd}`, "-a"]);
  if (code !== 0) return undefined;
  const words = stdout.split(/[\s;]+/);
  return { isCanonical: words.includes("icanon"), isEchoing: words.includes("echo") };
}

/** The kernel then sends SIGWINCH to the programs in the foreground. False if the size could not be set. */
export async function setTerminalSize(
  pid: number,
  fd: number,
  { rows, cols }: { readonly rows: number; readonly cols: number },
): Promise<boolean> {
  const size = ["rows", String(rows), "cols", String(cols)];
  return (await runOnce(["stty", "-F", `/proc/${pid}/fd/${fd}`, ...size])).code === 0;
}
