// Runs a program with access to all files of this user. The owner of a file without permissions may change them, but
// not read the file; the root of a user namespace may.

export function withOwnFiles(argv: readonly string[]): readonly string[] {
  return process.getuid?.() === 0 ? argv : ["unshare", "--user", "--map-root-user", "--", ...argv];
}
