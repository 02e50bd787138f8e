// The version in package.json.
import { readFileSync } from "node:fs";

export function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const parsed: { version?: string } = JSON.parse(text);
  return parsed.version ?? "unknown";
}
