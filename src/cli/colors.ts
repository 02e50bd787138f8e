// Colors for terminals. Without colors the functions return the text unchanged.
import picocolors from "picocolors";
import type { CliIo } from "./cli-io.ts";

export type Colors = ReturnType<typeof picocolors.createColors>;

export function colorsFor(io: CliIo, stream: "stdout" | "stderr" = "stdout"): Colors {
  return picocolors.createColors(io.colors?.[stream] ?? false);
}

/** The status of a shell, or `text`, in the status's color. */
export function colorStatus(colors: Colors, status: string, text = status): string {
  if (status === "running" || status === "pending") return colors.cyan(text);
  if (status === "completed") return colors.green(text);
  return status === "killed" ? colors.yellow(text) : colors.red(text);
}
