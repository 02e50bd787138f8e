// The environment of client programs in a test.

/** Runs `use` with another value of a variable. */
export async function withVariable<T>(name: string, value: string, use: () => Promise<T>): Promise<T> {
  const former = process.env[name];
  process.env[name] = value;
  try {
    return await use();
  } finally {
    process.env[name] = former;
  }
}
