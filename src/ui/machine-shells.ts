// The shells of this machine and of all remote machines: finds the machine of an id, and joins the rows. The id of a shell
// on a remote machine has the key of the machine before it: "m2.shell_0123abcd".
import { NacreError } from "../support/errors.ts";
import type { MachineState, RemoteShells } from "./remote-shells.ts";
import type { ShellRow } from "./shell-rows.ts";
import type { ShellSource } from "./shell-source.ts";

export class MachineShells {
  readonly #local: ShellSource;
  readonly #remote: ReadonlyMap<string, RemoteShells>;

  constructor(local: ShellSource, remote: readonly RemoteShells[]) {
    this.#local = local;
    this.#remote = new Map(remote.map((machine) => [machine.key, machine]));
  }

  rows(): readonly ShellRow[] {
    const machines = [...this.#remote.values()];
    if (machines.length === 0) return this.#local.rows();
    const rows = machines.flatMap((machine) =>
      machine.rows().map((row) => ({ ...row, id: `${machine.key}.${row.id}`, machine: machine.key })),
    );
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

  /** The machine of the shell, and its id there. */
  find(id: string): { readonly source: ShellSource; readonly id: string } {
    const [, key, rest = ""] = /^(m\d+)\.(.*)$/s.exec(id) ?? [];
    if (key === undefined) return { source: this.#local, id };
    const source = this.#remote.get(key);
    if (source) return { source, id: rest };
    throw new NacreError("shell_not_found", `Shell not found: ${id}. This page knows no machine ${key}.`);
  }
}
