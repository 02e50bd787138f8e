// The file through which a browser opens the page. The token must not appear in an argument list, because every user of
// the machine can read it there. So the browser gets the path of this private file, and the file redirects to the page.
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEW_SUFFIX, ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { wallMs } from "../support/clock.ts";
import { UI_TOKEN_BYTES, UI_TOKEN_KEPT_MS } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";

export interface RedirectFile {
  readonly path: string;
  readonly token: string;
}

/**
 * A server restarted on the same port reuses the previous token for UI_TOKEN_KEPT_MS, so that an open page can
 * reconnect.
 */
export function writeRedirect(root: StateRoot, port: number): RedirectFile {
  root.ensure();
  const dir = join(root.path, ROOT_NAMES.ui);
  makeDirs(dir);
  const path = join(dir, `${port}.html`);
  const token = earlierToken(path) ?? randomBytes(UI_TOKEN_BYTES).toString("base64url");
  const fresh = `${path}.${process.pid}${NEW_SUFFIX}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, pageFor(port, token), { mode: 0o600, flag: "wx" });
  renameSync(fresh, path);
  return { path, token };
}

/** Call this when the server ends, because the time of the last use decides how long the token is kept. */
export function touchRedirect({ path }: RedirectFile): void {
  attempt(() => utimesSync(path, new Date(), new Date()));
}

function earlierToken(path: string): string | undefined {
  const stat = attempt(() => statSync(path));
  if (!stat || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) return undefined;
  if (wallMs() - stat.mtimeMs > UI_TOKEN_KEPT_MS) return undefined;
  return /#token=([\w-]{32,})/.exec(attempt(() => readFileSync(path, "utf8")) ?? "")?.[1];
}

function pageFor(port: number, token: string): string {
  const url = `http://127.0.0.1:${port}/#token=${token}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>nacre</title>
<p><a href="${url}" rel="noreferrer">Open nacre</a></p>
</html>
`;
}
