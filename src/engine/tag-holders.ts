// Which shell has a tag now. A tag can pass from an ended shell to a new one. If it has, the ended shell has no
// processes left. Two hosts can assign the same tag: their keys tell their shells apart (host-key.ts).
import type { StartedShell } from "./started-shell.ts";

type Holder = Pick<StartedShell, "id" | "tag" | "key">;

export class TagHolders {
  readonly #ids = new Map<string, string>();

  take(holder: Holder): void {
    if (holder.tag !== undefined) this.#ids.set(tagAndKey(holder), holder.id);
  }

  release(holder: Holder): void {
    if (this.#ids.get(tagAndKey(holder)) === holder.id) this.#ids.delete(tagAndKey(holder));
  }

  /** The shells whose processes nacre can find: visible to this process, and still the holders of their tags. */
  findable(shells: readonly StartedShell[]): StartedShell[] {
    return shells.filter(
      (shell) => shell.unseen === undefined && (this.#ids.get(tagAndKey(shell)) ?? shell.id) === shell.id,
    );
  }
}

function tagAndKey({ tag, key }: Holder): string {
  return `${tag} ${key?.kib}`;
}
