// The disk operations of the file tools: locate a file, read it, replace it. The code runs in this process or, with a
// sandbox, in a worker inside the sandbox (files/worker). Requests and answers are plain data, because the worker
// exchanges them as JSON.
//
//   locate   a path as a caller wrote it -> the path without links, and the kind of file there
//   load     the bytes of a regular file, opened without following a link
//   store    new bytes for a file whose version the caller knows; atomic where the file system allows it

/** Identifies a version of a file. A program that changes the file changes at least one of these fields. */
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
  /** How many of its parent directories do not exist. */
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
  /** The path now resolves to another file than before. */
  | { readonly kind: "moved" }
  | { readonly kind: "not a file"; readonly entry: EntryKind }
  | { readonly kind: "too large"; readonly size: number }
  /** The file changes faster than it can be read. */
  | { readonly kind: "busy" };

export interface StoreRequest {
  /** The path as locate() returned it. */
  readonly real: string;
  /** The version to replace; null if there must be no file. */
  readonly expected: { readonly identity: FileIdentity; readonly sha256: string } | null;
  readonly bytes: Buffer;
  /** Name of the temporary file, in the directory of the file. */
  readonly temporary: string;
  /** Number of directories to create. */
  readonly missingDirs: number;
}

/** The reasons to write a file in place instead of replacing it by a rename. */
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
  /** The file now has a different version. `current` is undefined if the file is gone or cannot be read as a whole. */
  | { readonly kind: "stale"; readonly current: LoadedFile | undefined };

/** If the operating system refuses an operation, the promise rejects with a system error that has a `code`. */
export interface Disk {
  locate(path: string): Promise<Located>;
  load(real: string): Promise<LoadAnswer>;
  store(request: StoreRequest): Promise<StoreAnswer>;
}
