// Finds the known name that is closest to a mistyped one.

/** The closest name, or undefined if none is close enough. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(lower, name.toLowerCase()) }))
    .filter(
      ({ name, distance }) => distance <= Math.max(1, Math.floor(Math.max(word.length, name.length) / 3)),
    )
    .sort((a, b) => a.distance - b.distance);
  if (best) return best.name;
  // Also accept a name if one of the two names starts with the other: grace and graceMs, end and ended.
  const [only, ...more] = names.filter((name) => isBeginning(lower, name.toLowerCase()));
  return more.length === 0 ? only : undefined;
}

function isBeginning(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= 3 && (one.startsWith(other) || other.startsWith(one));
}

/** The number of letters to add, remove, replace or swap with a neighbor. */
function distanceOf(from: string, to: string): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const now = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      now[column] = Math.min(
        at(last, column) + 1,
        at(now, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = now;
  }
  return at(last, to.length);
}

function at(row: readonly number[] | undefined, column: number): number {
  return row?.[column] ?? Number.POSITIVE_INFINITY;
}
