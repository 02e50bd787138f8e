// How many repetitions: all of them for figures; with BENCH_QUICK a few, to check that every benchmark works.

export const amount = (whole, quick) => (process.env.BENCH_QUICK ? quick : whole);
