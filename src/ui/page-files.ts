// The static files of the page, which are read from the package once, and the headers that confine the page: it may
// only load its own files and talk to its own server.
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

// This path is also correct in the bundle in dist/cli.
const FOLDER = fileURLToPath(new URL("../ui/page/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // With this rule, no string can become markup or code.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The headers of every response, static or not. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
};

export class PageFiles {
  readonly #files: ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }>;

  constructor() {
    const names = readdirSync(FOLDER).filter((name) => extname(name) in TYPES);
    this.#files = new Map(
      names.map((name) => [
        name === "index.html" ? "/" : `/${name}`,
        { type: TYPES[extname(name)] ?? "", bytes: readFileSync(join(FOLDER, name)) },
      ]),
    );
  }

  /** Sends the file at this path. Returns false if there is none. */
  send(path: string, response: ServerResponse): boolean {
    const file = this.#files.get(path);
    if (!file) return false;
    response.writeHead(200, { ...SECURITY_HEADERS, "Content-Type": file.type });
    response.end(file.bytes);
    return true;
  }
}
