// For looks at what may be gone, or not ours to look at: undefined then.

export function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
