// A part of an output file: what one command printed.

/** Bytes [from, to) of a file. */
export interface OutputPart {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}
