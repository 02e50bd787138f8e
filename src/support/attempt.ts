// Reads something that may be missing or inaccessible: the result is undefined then.

export function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
