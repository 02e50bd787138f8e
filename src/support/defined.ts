// Builds objects for exactOptionalPropertyTypes, where `{ key: undefined }` is not the same as `{}`.

/** The object without its undefined properties. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
