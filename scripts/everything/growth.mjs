// Whether a host that lives through the whole soak has grown: its descriptors and its heap, from the samples it took.

/** Noise of the garbage collector, and caches that fill once. */
const HEAP_NOISE_BYTES = 8 * 1024 ** 2;
/** A host keeps its ended shells until they are swept. */
const HEAP_PER_OPERATION_BYTES = 16 * 1024;
/** Shells that run at the moment of a sample hold descriptors. */
const FD_GROWTH_MAX_COUNT = 32;

/** Compares the last quarter of the samples with the second one: caches have filled by then. */
export function growthOf({ samples, counts }) {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) return { fds: 0, heap: 0, problems: [] };
  const least = (from, name) =>
    Math.min(...samples.slice(from, from + quarter).map((sample) => sample[name]));
  const grown = (name) => least(samples.length - quarter, name) - least(quarter, name);
  const [fds, heap] = [grown("fds"), grown("heap")];
  const problems = [];
  if (fds > FD_GROWTH_MAX_COUNT)
    problems.push(`a host has ${fds} descriptors more than at a quarter of the run`);
  const operations = Object.values(counts).reduce((total, count) => total + count, 0);
  if (heap > HEAP_NOISE_BYTES + operations * HEAP_PER_OPERATION_BYTES)
    problems.push(`the heap of a host has grown by ${heap} bytes`);
  return { fds, heap, problems };
}
