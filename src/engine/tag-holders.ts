// Which shell has a tag now. If another shell has got the tag of an ended shell, the ended shell has no processes left.
import type { StartedShell } from "./started-shell.ts";

export class TagHolders {
  readonly #ids = new Map<bigint, string>();

  take(tag: bigint | undefined, id: string): void {
    if (tag !== undefined) this.#ids.set(tag, id);
  }

  release({ tag, id }: StartedShell): void {
    if (tag !== undefined && this.#ids.get(tag) === id) this.#ids.delete(tag);
  }

  /** The shells whose processes nacre can find: visible to this process, and still the holders of their tags. */
  findable(shells: readonly StartedShell[]): StartedShell[] {
    return shells.filter(
      ({ id, tag, unseen }) =>
        unseen === undefined && (tag === undefined || (this.#ids.get(tag) ?? id) === id),
    );
  }
}
