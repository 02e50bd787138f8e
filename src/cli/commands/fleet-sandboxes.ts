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

export async function fleetSandboxes(io: CliIo, action: "ls" | "clean", flags: FleetFlags): Promise<number> {
  const named = flags.engine;
  const names =
    named === undefined ? (Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]).filter(isHere) : [named];
  const found: ListedSandbox[] = [];
  let exitCode: number = EXIT.ok;
  for (const name of names) {
    const engine = engineOf(name, flags);
    try {
      const sandboxes = await engine.list();
      const wanted = action === "ls" ? sandboxes : sandboxes.filter(isAbandoned);
      if (action === "clean") await Promise.all(wanted.map(({ id }) => engine.release(id)));
      found.push(...wanted);
    } catch (error) {
      remark(io, printable(messageOf(error)));
      // Without --engine, an engine that is not in use here is no failure.
      if (named !== undefined) exitCode = EXIT.failed;
    }
  }
  print(io, action, found, flags.json === true);
  return exitCode;
}

function engineOf(name: keyof typeof PROGRAMS, { namespace }: FleetFlags): FleetEngine {
  // Listing and releasing need no image.
  if (name === "docker") return docker({ image: "" });
  if (name === "slurm") return slurm();
  return kubernetes({ image: "", ...(namespace === undefined ? {} : { namespace }) });
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
