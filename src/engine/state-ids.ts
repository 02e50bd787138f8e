// The ids of shells and previews, which are also the names of their directories in the state root.
import { randomBytes } from "node:crypto";

export function newShellId(): string {
  return `shell_${randomBytes(4).toString("hex")}`;
}

export function newPreviewId(): string {
  return `preview_${randomBytes(4).toString("hex")}`;
}

export function isPreviewId(text: string): boolean {
  return /^preview_[0-9a-f]{8}$/.test(text);
}

export function isShellId(text: string): boolean {
  return /^shell_[0-9a-f]{8}$/.test(text);
}
