export const TOUR_FILE: string;
interface Step {
  readonly command: string;
  readonly lines: readonly string[];
}
export function recordTour(): Step[];
export function drawTour(steps: readonly Step[]): string;
