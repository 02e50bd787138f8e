// The number of repetitions: `whole` for real figures; `quick` with BENCH_QUICK, to check that every benchmark works.

export const amount = (whole, quick) => (process.env.BENCH_QUICK ? quick : whole);
