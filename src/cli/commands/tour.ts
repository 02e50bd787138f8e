// `nacre tour`: runs a few real commands and explains their results. Uses a temporary state directory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sizeOf } from "../../engine/cursor.ts";
import { admit } from "../../execution/admission.ts";
import { resolveExecutionOptions } from "../../execution/execution-options.ts";
import { describeProcess, leftoversOf } from "../../execution/leftovers.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { ShellManager } from "../../shell-manager.ts";
import { messageOf } from "../../support/errors.ts";
import { TOUR_STEP_MAX_MS } from "../../support/limits.ts";
import { humanizeBytes } from "../../text/snip.ts";
import { createContext } from "../../tool/context.ts";
import type { CliIo } from "../cli-io.ts";
import { type Colors, colorsFor } from "../colors.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { startOwnCommand } from "../own-command.ts";

export async function tour(io: CliIo): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "nacre-tour-"));
  const manager = new ShellManager({ stateRoot: join(dir, "state"), poolSize: 1 });
  // Ctrl-C ends the tour at once and leaves nothing running.
  using interruption = new Interruption(io, () => void manager.killAll({ by: "Ctrl-C" }));
  const guide = new Guide(io, manager, dir);
  const steps = [
    () => guide.output(),
    () => guide.leftovers(),
    () => guide.killing(),
    () => guide.largeOutput(),
    () => guide.policy(),
  ];
  try {
    guide.open();
    for (const step of steps) if (interruption.exitCode === undefined) await step();
    guide.close();
    return interruption.exitCode ?? EXIT.ok;
  } finally {
    await manager.dispose();
    rmSync(dir, { recursive: true, force: true });
  }
}

class Guide {
  readonly #io: CliIo;
  readonly #manager: ShellManager;
  readonly #dir: string;
  readonly #colors: Colors;

  constructor(io: CliIo, manager: ShellManager, dir: string) {
    this.#io = io;
    this.#manager = manager;
    this.#dir = dir;
    this.#colors = colorsFor(io);
  }

  open(): void {
    this.#print(`${this.#colors.bold("nacre")}: the shell that AI agents should have had`, "");
  }

  async output(): Promise<void> {
    const shell = await this.#run("echo hello; echo oops >&2; exit 3");
    this.#print(...indented(shell.getAllOutput()), `  exit code ${shell.exitCode}`);
    this.#explain(
      "Output and exit code are on disk before they are reported: a killed host process loses neither.",
    );
  }

  async leftovers(): Promise<void> {
    const shell = await this.#run("sleep 1000 & echo hi");
    const left = (await leftoversOf(shell)).map(describeProcess);
    this.#print(...indented(shell.getAllOutput()), `  left running: ${left.join(", ")}`);
    await shell.kill({ by: "the tour" });
    this.#explain(
      "Every call returns and lists the processes that its command left running. A kill ends them.",
    );
  }

  async killing(): Promise<void> {
    const shell = await this.#start("setsid env -i /bin/sleep 1000 & echo ready; wait");
    await shell.waitFor({ pattern: /ready/ }, TOUR_STEP_MAX_MS);
    const { signalled, survivors } = await shell.kill({ by: "the tour" });
    this.#print(
      ...signalled.map((process) => `  ended: ${describeProcess(process)}`),
      `  survivors: ${survivors.length === 0 ? "none" : survivors.map(({ command }) => command).join(", ")}`,
    );
    this.#explain("A kill ends everything a shell started, even after setsid and env -i.");
  }

  async largeOutput(): Promise<void> {
    const shell = await this.#run("yes 'a line of output' | head -c 100M");
    const { stdout } = shell.outputFiles;
    this.#print(
      `  ${humanizeBytes(sizeOf(stdout))} in ${(shell.durationMs / 1000).toFixed(1)}s; this program uses ${humanizeBytes(process.memoryUsage.rss())} of memory`,
    );
    this.#explain("Output goes from the command directly to disk; an agent sees its beginning and its end.");
  }

  async policy(): Promise<void> {
    const command = "cd / && sudo rm -rf etc";
    this.#prompt(command);
    const options = resolveExecutionOptions({ manager: this.#manager, entryPoint: "cli" });
    try {
      const wanted = { command, background: false, session: null };
      await admit(wanted, createContext({ workingDir: this.#dir }), options);
    } catch (error) {
      this.#print(...indented(messageOf(error)));
    }
    this.#explain("The policy reads a command before it runs, and explains a refusal.");
  }

  close(): void {
    this.#print(
      `${this.#colors.bold("Next:")}`,
      "  nacre run 'make test'     run your own command; -b for the background, then nacre ps, output, kill",
      "  nacre init claude-code    configure an agent: claude-code, codex, gemini, opencode, cursor, vscode",
      "  nacre doctor              check this machine",
      "  nacre --help              list all commands",
      "In a clone, write `npm start --` instead of `nacre`.",
    );
  }

  async #run(command: string): Promise<ShellProcess> {
    const shell = await this.#start(command);
    await shell.waitUntil({ exit: true }, TOUR_STEP_MAX_MS);
    return shell;
  }

  async #start(command: string): Promise<ShellProcess> {
    this.#prompt(command);
    const timeoutMs = TOUR_STEP_MAX_MS;
    return await startOwnCommand(this.#manager, { command, workingDir: this.#dir }, { timeoutMs });
  }

  #prompt(command: string): void {
    this.#print(`${this.#colors.cyan("$")} ${this.#colors.bold(command)}`);
  }

  #explain(text: string): void {
    this.#print(this.#colors.dim(`  ${text}`), "");
  }

  #print(...lines: readonly string[]): void {
    for (const line of lines) this.#io.stdout.write(`${line}\n`);
  }
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`);
}
