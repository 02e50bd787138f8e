// The client programs of links that this process has started.
import { readdirSync } from "node:fs";
import { isAlive, textOf } from "../fixtures/processes.ts";

/** The PIDs of this process's children with this name. */
export function linkClients(name: string): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    const stat = textOf(`/proc/${pid}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return parent === process.pid && stat.includes(`(${name})`) && isAlive(pid);
  });
}
