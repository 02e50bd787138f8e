// `nacre ui`: serves the page until a signal ends it.
import { openFile } from "../../engine/open-file.ts";
import { parseRemote } from "../../remote/links/link-url.ts";
import { serveUi, type UiAddress } from "../../ui/serve-ui.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager } from "../find-shell.ts";
import { Interruption } from "../interruption.ts";
import { packageVersion } from "../package-version.ts";
import { printJson, remark } from "../print.ts";

export interface UiFlags {
  readonly port?: number;
  readonly control?: boolean;
  /** URLs of the remote machines to show. @default none */
  readonly remotes?: readonly string[];
  /** False with --no-open. */
  readonly open?: boolean;
  readonly json?: boolean;
}

export async function showPage(
  io: CliIo,
  { port, control = false, remotes = [], open = true, json }: UiFlags,
): Promise<number> {
  const ending = new AbortController();
  using _interruption = new Interruption(io, () => ending.abort());
  const onListening = (address: UiAddress) => {
    if (json) printJson(io, { url: address.url, redirect_file: address.path, token: address.token, control });
    else io.stdout.write(`${address.url}\n${address.path}\n`);
    if (!open) return;
    void openFile(address.path).then((isOpened) => {
      if (!isOpened) remark(io, "no browser could be opened; open the file above in one");
    });
  };
  // Throws for an invalid URL.
  for (const url of remotes) parseRemote(url);
  const options = { manager: readOnlyManager(), port, control, remotes, version: packageVersion() };
  await serveUi(options, { signal: ending.signal, onListening });
  return EXIT.ok;
}
