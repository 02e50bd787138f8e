/** What a run of the benchmarks has found, as far as the figures need it. */
interface Findings {
  readonly benches: readonly {
    readonly name: string;
    readonly tables: readonly {
      readonly title: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }[];
  }[];
}

export function withFigures(readme: string, findings: Findings): string;
