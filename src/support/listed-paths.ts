// Tables of paths. The key is a program, the value its paths, separated by commas. A trailing slash marks a directory.

export type PathTable = Readonly<Record<string, string>>;

export interface ListedPath {
  readonly path: string;
  readonly kind: "directory" | "file";
}

export function listedPaths(table: PathTable): ListedPath[] {
  const paths = Object.values(table).flatMap((list) => list.split(", "));
  return paths.map((path) =>
    path.endsWith("/") ? { path: path.slice(0, -1), kind: "directory" } : { path, kind: "file" },
  );
}
