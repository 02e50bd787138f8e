// How many repetitions: all of them for real figures; only a few with BENCH_QUICK, to check that every benchmark works.

export const amount = (whole, quick) => (process.env.BENCH_QUICK ? quick : whole);
