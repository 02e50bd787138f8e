// Colours for people. Where none are wanted the text comes back as it is.
import picocolors from "picocolors";
import type { CliIo } from "./cli-io.ts";

export type Paint = ReturnType<typeof picocolors.createColors>;

export function paintFor(io: CliIo, stream: "stdout" | "stderr" = "stdout"): Paint {
  return picocolors.createColors(io.colours?.[stream] ?? false);
}

/** A status in the colour that people know it by. */
export function paintStatus(paint: Paint, status: string, text = status): string {
  if (status === "running" || status === "pending") return paint.cyan(text);
  if (status === "completed") return paint.green(text);
  return status === "killed" ? paint.yellow(text) : paint.red(text);
}
