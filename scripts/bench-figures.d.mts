/** The part of a benchmark run's results that the figures need. */
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
