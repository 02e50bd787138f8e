// Whether a host that lives through the whole soak test has grown: compares samples of its descriptors and its heap.

/** Allows for noise from the garbage collector and for caches that fill once. */
const HEAP_NOISE_BYTES = 8 * 1024 ** 2;
/** Allows for finished shells, which a host keeps in memory until it sweeps them. */
const HEAP_PER_OPERATION_BYTES = 16 * 1024;
/** Allows for shells that run during a sample, because the host has file descriptors open for them. */
const FD_GROWTH_MAX_COUNT = 32;

/** Compares the last quarter of the samples with the second quarter, in which caches have already filled. */
export function growthOf({ samples, counts }) {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) return { fds: 0, heap: 0, problems: [] };
  const least = (from, name) =>
    Math.min(...samples.slice(from, from + quarter).map((sample) => sample[name]));
  const grown = (name) => least(samples.length - quarter, name) - least(quarter, name);
  const [fds, heap] = [grown("fds"), grown("heap")];
  const problems = [];
  if (fds > FD_GROWTH_MAX_COUNT)
    problems.push(`a host has ${fds} more descriptors than after a quarter of the run`);
  const operations = Object.values(counts).reduce((total, count) => total + count, 0);
  if (heap > HEAP_NOISE_BYTES + operations * HEAP_PER_OPERATION_BYTES)
    problems.push(`the heap of a host has grown by ${heap} bytes`);
  return { fds, heap, problems };
}
