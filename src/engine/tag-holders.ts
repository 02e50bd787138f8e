// Which shell has a tag now. An ended shell whose tag was given to another shell has no processes any more.
import type { StartedShell } from "./started-shell.ts";

export class TagHolders {
  readonly #ids = new Map<bigint, string>();

  take(tag: bigint | undefined, id: string): void {
    if (tag !== undefined) this.#ids.set(tag, id);
  }

  release({ tag, id }: StartedShell): void {
    if (tag !== undefined && this.#ids.get(tag) === id) this.#ids.delete(tag);
  }

  /** The shells whose processes can be found: visible from here, and still with their own tag. */
  findable(shells: readonly StartedShell[]): StartedShell[] {
    return shells.filter(
      ({ id, tag, unseen }) =>
        unseen === undefined && (tag === undefined || (this.#ids.get(tag) ?? id) === id),
    );
  }
}
