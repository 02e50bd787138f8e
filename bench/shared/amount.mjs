// How much of everything: the whole for figures; with BENCH_QUICK a little, to see that every benchmark still works.

export const amount = (whole, quick) => (process.env.BENCH_QUICK ? quick : whole);
