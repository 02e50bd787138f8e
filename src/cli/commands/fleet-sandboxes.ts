// `nacre fleet ls|clean`: the sandboxes that programs of this user have leased from docker, Kubernetes and Slurm.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { docker } from "../../remote/fleet/docker-engine.ts";
import {
  type FleetEngine,
  isAbandoned,
  isOwnerGone,
  type ListedSandbox,
} from "../../remote/fleet/fleet-engine.ts";
import { kubernetes } from "../../remote/fleet/kubernetes-engine.ts";
import { slurm } from "../../remote/fleet/slurm-engine.ts";
import { messageOf } from "../../support/errors.ts";
import { printable } from "../../support/printable.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { printJson, remark } from "../print.ts";

export interface FleetFlags {
  readonly engine?: keyof typeof PROGRAMS;
  readonly namespace?: string;
  readonly json?: boolean;
}

const PROGRAMS = { docker: "docker", kubernetes: "kubectl", slurm: "squeue" } as const;
const ENGINES = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];

export async function fleetSandboxes(io: CliIo, action: "ls" | "clean", flags: FleetFlags): Promise<number> {
  const named = flags.engine;
  const names = named === undefined ? ENGINES.filter(isHere) : [named];
  if (names.length === 0)
    remark(io, `no engine can be asked: none of ${Object.values(PROGRAMS).join(", ")} is on PATH`);
  const found: ListedSandbox[] = [];
  let answers = 0;
  let failures = 0;
  for (const name of names) {
    const engine = engineOf(name, flags);
    try {
      const sandboxes = await engine.list();
      answers++;
      if (action === "ls") found.push(...sandboxes);
      else failures += await removeAbandoned(io, engine, sandboxes, found);
    } catch (error) {
      remark(io, `${name}: ${printable(messageOf(error))}`);
    }
  }
  if (answers > 0) print(io, action, found, flags.json === true);
  else if (flags.json) printJson(io, []);
  // Without --engine, an unreachable engine does not count as a failure if another engine answered.
  return answers > 0 && failures === 0 ? EXIT.ok : EXIT.failed;
}

/** Adds the removed sandboxes to `removed`. Returns the number of sandboxes that could not be removed. */
async function removeAbandoned(
  io: CliIo,
  engine: FleetEngine,
  sandboxes: readonly ListedSandbox[],
  removed: ListedSandbox[],
): Promise<number> {
  const abandoned = sandboxes.filter(isAbandoned);
  const results = await Promise.allSettled(abandoned.map(({ id }) => engine.release(id)));
  removed.push(...abandoned.filter((_, index) => results[index]?.status === "fulfilled"));
  const failed = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  for (const { reason } of failed) remark(io, `${engine.name}: ${printable(messageOf(reason))}`);
  return failed.length;
}

function engineOf(name: keyof typeof PROGRAMS, { namespace }: FleetFlags): FleetEngine {
  // The image does not matter: only starting a sandbox needs one.
  if (name === "docker") return docker({ image: "unused" });
  if (name === "slurm") return slurm();
  return kubernetes({ image: "unused", ...(namespace === undefined ? {} : { namespace }) });
}

function isHere(name: keyof typeof PROGRAMS): boolean {
  const dirs = (process.env["PATH"] ?? "").split(delimiter).filter((dir) => dir !== "");
  return dirs.some((dir) => existsSync(join(dir, PROGRAMS[name])));
}

function print(io: CliIo, action: "ls" | "clean", found: readonly ListedSandbox[], json: boolean): void {
  if (json) {
    printJson(io, found);
    return;
  }
  if (found.length === 0) remark(io, action === "ls" ? "no sandboxes" : "nothing to remove");
  for (const { url, status, owner } of found) {
    const state =
      action === "clean" ? "removed" : `${status}${isOwnerGone(owner) ? ", its program has ended" : ""}`;
    io.stdout.write(`${printable(url)}  ${printable(state)}\n`);
  }
}
