// A part of an output file: the output of one command.

/** Bytes [from, to) of a file. */
export interface OutputPart {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}
