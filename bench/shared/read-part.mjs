// Reads a range of an output file as text, like the caller of a session.
import { closeSync, openSync, readSync } from "node:fs";

export function readPart({ path, from, to }) {
  if (to <= from) return "";
  const fd = openSync(path, "r");
  const bytes = Buffer.allocUnsafe(to - from);
  readSync(fd, bytes, 0, bytes.length, from);
  closeSync(fd);
  return bytes.toString();
}
