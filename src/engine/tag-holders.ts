// Who has a tag now: an ended shell whose tag went to another one finds nothing any more.
import type { StartedShell } from "./started-shell.ts";

export class TagHolders {
  readonly #ids = new Map<bigint, string>();

  take(tag: bigint | undefined, id: string): void {
    if (tag !== undefined) this.#ids.set(tag, id);
  }

  release({ tag, id }: StartedShell): void {
    if (tag !== undefined && this.#ids.get(tag) === id) this.#ids.delete(tag);
  }

  /** Those whose processes can be looked for: seen from here, and their tag is still their own. */
  findable(shells: readonly StartedShell[]): StartedShell[] {
    return shells.filter(
      ({ id, tag, unseen }) =>
        unseen === undefined && (tag === undefined || (this.#ids.get(tag) ?? id) === id),
    );
  }
}
