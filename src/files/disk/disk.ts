// The operations of the file tools on a disk: find a file, read it, replace it. The same code runs in this process and,
// with a sandbox, in a worker inside the sandbox (files/worker). Every request and answer is plain data, so that it can
// be sent as JSON.
//
//   locate   a path as a caller wrote it -> the path without links, and what is there
//   load     the bytes of a regular file, opened without following a link
//   store    new bytes for a file whose version the caller knows; atomic where the file system allows it

/** A version of a file. A program that changes the file changes at least one of these. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly size: number;
  readonly mtimeNs: string;
}

export const ENTRY_KINDS = [
  "file",
  "directory",
  "fifo",
  "socket",
  "character device",
  "block device",
  "kernel file",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface Located {
  /** The absolute path without links. */
  readonly real: string;
  /** undefined if nothing exists there. */
  readonly kind: EntryKind | undefined;
  /** How many of its parent directories do not exist either. */
  readonly missingDirs: number;
  /** If nothing exists there: similar names in the directory, nearest first. */
  readonly nearest: readonly string[];
}

export interface LoadedFile {
  readonly identity: FileIdentity;
  readonly hardLinks: number;
  readonly bytes: Buffer;
}

export type LoadAnswer =
  | ({ readonly kind: "loaded" } & LoadedFile)
  /** The path leads elsewhere than when it was resolved. */
  | { readonly kind: "moved" }
  | { readonly kind: "not a file"; readonly entry: EntryKind }
  | { readonly kind: "too large"; readonly size: number }
  /** It changes faster than it can be read. */
  | { readonly kind: "busy" };

export interface StoreRequest {
  /** As locate() returned it. */
  readonly real: string;
  /** The version that is replaced; null if there must be no file. */
  readonly expected: { readonly identity: FileIdentity; readonly sha256: string } | null;
  readonly bytes: Buffer;
  /** Name of the temporary file, in the directory of the file. */
  readonly temporary: string;
  /** Number of directories to create. */
  readonly missingDirs: number;
}

/** Why a file was written in place, and not replaced by a rename. */
export const IN_PLACE_REASONS = ["hard link", "owner", "directory", "mount point"] as const;
export type InPlaceReason = (typeof IN_PLACE_REASONS)[number];

export type StoreAnswer =
  | {
      readonly kind: "stored";
      readonly identity: FileIdentity;
      readonly hardLinks: number;
      /** undefined if the file was replaced atomically. */
      readonly inPlace: InPlaceReason | undefined;
      /** Whether the new file may lack an access control list or an extended attribute of the old one. */
      readonly mayLackAttributes: boolean;
    }
  | { readonly kind: "moved" }
  /** Another version is there; undefined if it is gone or cannot be read as a whole. */
  | { readonly kind: "stale"; readonly current: LoadedFile | undefined };

/** Rejects with a system error (code) if the operating system refuses an operation. */
export interface Disk {
  locate(path: string): Promise<Located>;
  load(real: string): Promise<LoadAnswer>;
  store(request: StoreRequest): Promise<StoreAnswer>;
}
