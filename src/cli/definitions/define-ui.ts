// Defines `nacre ui`.
import { type Command, Option } from "commander";
import type { UiFlags } from "../commands/show-page.ts";
import { examples, readPort } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { effectiveSettings } from "../settings.ts";

export function defineUi(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("ui")
    .description("show all shells and approvals on a page in your browser, until Ctrl-C")
    .option("--port <number>", "the port on this machine; 0 for any free one", readUiPort)
    .option("--control", "let the page answer approvals, end shells and type (default: read-only)")
    .addOption(
      new Option(
        "--remote <url>",
        "also show the shells of that machine, such as ssh://host; can be repeated",
      ).argParser<readonly string[]>((url, before = []) => [...before, url]),
    )
    .option("--no-open", "do not open a browser")
    .option("--json", "print address, file and token as one JSON object")
    .addHelpText(
      "after",
      `
The page is at a loopback address and needs a token. Open the printed file in a browser on this machine: it leads to
the page with its token. Only you can read the file.
${examples("ui", "ui --control", "ui --remote ssh://build-host", "ui --port 7411 --no-open")}`,
    )
    .action(async ({ remote, ...options }: Omit<UiFlags, "remotes"> & { remote?: readonly string[] }) => {
      const { showPage } = await import("../commands/show-page.ts");
      const { remotes } = await effectiveSettings(remote ? { remotes: remote } : {}, io.cwd);
      done(await showPage(io, { ...options, remotes: remotes.value }));
    });
}

/** 0 means any free port. */
function readUiPort(text: string): number {
  return text === "0" ? 0 : readPort(text);
}
