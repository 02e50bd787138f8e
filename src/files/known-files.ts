// The version of each file that a reader has read last. Edit and Write change an existing file only if it still has the
// bytes that the reader knows. The versions are only in memory: after a restart, a reader must read the file again.
import { KNOWN_FILES_MAX_BYTES, KNOWN_FILES_MAX_COUNT } from "../support/limits.ts";
import { sha256Of } from "./disk/store.ts";

export interface KnownVersion {
  readonly sha256: string;
  /** undefined if the bytes were dropped to save memory. nacre uses them only to show changes in a message. */
  readonly bytes: Buffer | undefined;
}

export class KnownFiles {
  /** The versions by reader and path, least recently stored first. */
  readonly #versions = new Map<string, KnownVersion>();
  #keptBytes = 0;

  get(reader: string, real: string): KnownVersion | undefined {
    return this.#versions.get(keyOf(reader, real));
  }

  set(reader: string, real: string, bytes: Buffer): void {
    const key = keyOf(reader, real);
    this.#forget(key);
    this.#versions.set(key, { sha256: sha256Of(bytes), bytes });
    this.#keptBytes += bytes.length;
    this.#trim(key);
  }

  #trim(newest: string): void {
    for (const [key, version] of this.#versions) {
      const tooMany = this.#versions.size > KNOWN_FILES_MAX_COUNT;
      const tooLarge = this.#keptBytes > KNOWN_FILES_MAX_BYTES;
      if (!tooMany && !tooLarge) return;
      if (tooMany) this.#forget(key);
      else if (key !== newest) this.#dropBytes(key, version);
    }
  }

  #dropBytes(key: string, { sha256, bytes }: KnownVersion): void {
    this.#keptBytes -= bytes?.length ?? 0;
    this.#versions.set(key, { sha256, bytes: undefined });
  }

  #forget(key: string): void {
    this.#keptBytes -= this.#versions.get(key)?.bytes?.length ?? 0;
    this.#versions.delete(key);
  }
}

function keyOf(reader: string, real: string): string {
  return `${reader}\0${real}`;
}
