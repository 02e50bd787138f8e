// Runs the CLI inside the test process. Each test has its own state directory, and its shells are killed after the test.
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, vi } from "vitest";
import { runCli } from "../../src/cli/cli.ts";
import { ShellManager } from "../../src/shell-manager.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestCli {
  /** The working directory, which contains the state directory. */
  readonly dir: () => string;
  nacre(...args: string[]): Promise<Finished>;
  /** Runs nacre with the given stdin. `interactive`, `columns` and `colors` simulate a terminal. */
  nacreWith(
    input: {
      readonly stdin: string;
      readonly interactive?: boolean;
      readonly columns?: number;
      readonly colors?: boolean;
    },
    ...args: string[]
  ): Promise<Finished>;
}

/** Call once per test file. */
export function useCli(): TestCli {
  const directory = useLeakProof();
  let home = "";

  beforeEach(() => {
    home = directory();
    vi.stubEnv("NACRE_HOME", join(home, "state"));
  });

  afterEach(async () => {
    const manager = new ShellManager({ poolSize: 0 });
    for (const shell of manager.findAll()) if (shell.isRunning) await shell.kill();
    await manager.dispose();
    vi.unstubAllEnvs();
  });

  const nacreWith: TestCli["nacreWith"] = async (input, ...args) => {
    const { stdin, interactive = false, columns, colors = false } = input;
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const texts = [collect(stdout), collect(stderr)];
    const code = await runCli(args, {
      stdin: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]),
      stdout,
      stderr,
      cwd: home,
      interactive,
      columns,
      colors: { stdout: colors, stderr: colors },
    });
    stdout.end();
    stderr.end();
    const [out = "", err = ""] = await Promise.all(texts);
    return { code, stdout: out, stderr: err };
  };
  const nacre: TestCli["nacre"] = (...args) => nacreWith({ stdin: "" }, ...args);
  return { dir: () => home, nacre, nacreWith };
}

async function collect(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
