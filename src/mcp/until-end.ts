// Waits until a connection is closed or the signal is aborted.

export async function untilEnd(closed: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return await closed;
  await new Promise<void>((resolve) => {
    const end = () => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    void closed.then(end);
  });
}
