// Where in the command something stands.

/** UTF-16 offsets into the command, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
