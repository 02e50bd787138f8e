// Defines the sandbox and limit options, for every CLI command that runs commands.
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  NETWORK_ACCESS,
  type NetworkAccess,
  SANDBOX_PROFILES,
  type SandboxProfile,
} from "../../engine/confinement.ts";
import type { ConfineOptions } from "../../sandbox/sandbox.ts";

/** The options as commander parses them. */
export interface SandboxFlags {
  readonly sandbox?: SandboxProfile;
  readonly network?: NetworkAccess;
  readonly writable?: readonly string[];
  readonly hide?: readonly string[];
  readonly gitConfig?: boolean;
  readonly debuggers?: boolean;
  readonly allowUnsandboxed?: boolean;
  readonly maxProcesses?: number;
  readonly maxMemory?: number;
  readonly cpuSeconds?: number;
  readonly maxFileSize?: number;
}

export function defineSandbox(command: Command): Command {
  return command
    .optionsGroup("Sandbox and limits:")
    .addOption(
      new Option("--sandbox <profile>", "what commands can write: everything, nothing, or the workspace")
        .choices(SANDBOX_PROFILES)
        .default("off"),
    )
    .addOption(
      new Option("--network <access>", "network of sandboxed commands (default: none)").choices(
        NETWORK_ACCESS,
      ),
    )
    .option("--writable <path>", "sandbox: another writable path; repeatable", collect)
    .option("--hide <path>", "sandbox: another path that commands cannot read; repeatable", collect)
    .option("--git-config", "sandbox: let commands write .git/config")
    .option("--debuggers", "sandbox: let commands trace each other (gdb, strace)")
    .option("--allow-unsandboxed", "run without the sandbox if it is unavailable")
    .option("--max-processes <count>", "how many processes one shell can have at a time", readPositive)
    .option("--max-memory <size>", "memory of one shell: 512M, 2G", readSize)
    .option("--cpu-seconds <count>", "CPU time of each process", readPositive)
    .option("--max-file-size <size>", "size of each written file: 100M, 2G", readSize);
}

export function confineOptionsOf(flags: SandboxFlags): ConfineOptions {
  const { sandbox, network, writable, hide, gitConfig, debuggers, allowUnsandboxed } = flags;
  const { maxProcesses, maxMemory: maxMemoryBytes, cpuSeconds, maxFileSize: maxFileBytes } = flags;
  const all = {
    ...{ sandbox, network, writable, hide, gitConfig, debuggers, allowUnsandboxed },
    ...{ maxProcesses, maxMemoryBytes, cpuSeconds, maxFileBytes },
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function collect(path: string, before: readonly string[] = []): string[] {
  return [...before, path];
}

function readPositive(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("It must be a whole number, 1 or more.");
}

const UNITS: Readonly<Record<string, number>> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

export function readSize(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+)([KMG]?)$/i.exec(text) ?? [];
  const value = Number(digits) * (UNITS[unit.toUpperCase()] ?? 1);
  if (digits !== "" && value > 0 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a size such as 512M or 2G; a plain number counts bytes.");
}
