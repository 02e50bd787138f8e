// The shells of this machine and of all remote machines. Joins their rows, and finds the machine of a shell by its id.
// Owns the keys of the remote machines ("m1", "m2", …) and the ids of their shells on the page: "m2.shell_0123abcd".
import { NacreError } from "../support/errors.ts";
import { type MachineState, RemoteShells } from "./remote-shells.ts";
import type { ShellRow } from "./shell-rows.ts";
import type { ShellSource } from "./shell-source.ts";

/** Separates the key of a machine from the id of a shell. The id of a local shell contains no separator. */
const SEPARATOR = ".";

export interface RemoteMachines {
  readonly urls: readonly string[];
  /** Whether the page may kill shells on these machines and type into them. */
  readonly control: boolean;
}

export class MachineShells {
  readonly #local: ShellSource;
  readonly #remote: ReadonlyMap<string, RemoteShells>;

  constructor(local: ShellSource, { urls, control }: RemoteMachines) {
    this.#local = local;
    const remote = urls.map((url, index) => new RemoteShells(`m${index + 1}`, { url, control }));
    this.#remote = new Map(remote.map((machine) => [machine.key, machine]));
  }

  rows(): readonly ShellRow[] {
    const machines = [...this.#remote.values()];
    if (machines.length === 0) return this.#local.rows();
    const rows = machines.flatMap((machine) => machine.rows().map((row) => rowOn(machine.key, row)));
    return [...this.#local.rows(), ...rows];
  }

  machines(): readonly MachineState[] {
    return [...this.#remote.values()].map((machine) => machine.state);
  }

  async measure(): Promise<void> {
    await this.#local.measure();
  }

  /** Connects to the remote machines, or closes the connections. */
  watch(isWatched: boolean): void {
    for (const machine of this.#remote.values()) machine.watch(isWatched);
  }

  /** The machine of the shell, and the id of the shell on that machine. */
  find(id: string): { readonly source: ShellSource; readonly id: string } {
    const at = id.indexOf(SEPARATOR);
    if (at < 0) return { source: this.#local, id };
    const key = id.slice(0, at);
    const source = this.#remote.get(key);
    if (source) return { source, id: id.slice(at + SEPARATOR.length) };
    throw new NacreError("shell_not_found", `Shell not found: ${id}. This page shows no machine ${key}.`);
  }
}

function rowOn(machine: string, row: ShellRow): ShellRow {
  return { ...row, id: `${machine}${SEPARATOR}${row.shell_id}`, machine };
}
