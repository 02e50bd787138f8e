// Reads something that may be missing or inaccessible. Returns undefined instead of throwing.

export function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
