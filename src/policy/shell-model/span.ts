// A range of the command's text.

/** UTF-16 offsets into the command, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
