// Defines the commands for terminals: send, attach.
import { type Command, Option } from "commander";
import { TERMINAL_WAIT_MS } from "../../support/limits.ts";
import { fixedTime } from "../amounts.ts";
import type { AttachOptions } from "../commands/attach-terminal.ts";
import type { SendOptions } from "../commands/send-input.ts";
import { collectKeys, examples, readMs } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineTerminals(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("send")
    .description("type into the terminal of a shell, and print its screen")
    .argument("<id>", "the id or name of a shell, or a unique beginning of the id")
    .argument("[text...]", "text to type; several words are joined with spaces; a newline is Enter")
    .option(
      "-k, --key <names>",
      "press these keys after the text: Enter, Up, Ctrl-C, F1; separate several with commas; repeatable",
      collectKeys,
    )
    .addOption(new Option("--keys <names>").argParser(collectKeys).hideHelp())
    .option("--enter", "press Enter after the text")
    .option(
      "--wait <time>",
      `wait up to this time until the program waits for input again (default: ${fixedTime(TERMINAL_WAIT_MS)})`,
      readMs,
    )
    .option("--json", "print the screen and what the program waits for as one JSON object")
    .addHelpText(
      "after",
      `
Without text and keys, it only prints the screen. At a prompt for a password it types no text: use nacre attach.

Exit codes: 0 if everything was typed, 1 if not.
${examples("send 3f9a y --enter", "send 3f9a ':wq' --key Enter", "send 3f9a --key Ctrl-C", "send dev --json")}`,
    )
    .action(async (id: string, words: string[], options: Omit<SendOptions, "id" | "text">) => {
      const { sendInput } = await import("../commands/send-input.ts");
      done(await sendInput(io, { ...options, id, text: words.join(" ") }));
    });
  program
    .command("attach")
    .description("connect this terminal to the terminal of a shell")
    .argument("<id>", "the id or name of a shell, or a unique beginning of the id")
    .option("--detach-key <key>", "the key that leaves and lets the shell run", "Ctrl-]")
    .addHelpText(
      "after",
      `
The shell's terminal takes the size of this one. nacre stores nothing that you type, so this is the way to enter a
password.

Exit codes: the shell's own if it ends meanwhile; 0 after the detach key.
${examples("attach 3f9a", "attach dev --detach-key Ctrl-Q")}`,
    )
    .action(async (id: string, options: Omit<AttachOptions, "id">) => {
      const { attachTerminal } = await import("../commands/attach-terminal.ts");
      done(await attachTerminal(io, { ...options, id }));
    });
}
