/** Appearance of the parts of a response in the output of commands. */
/**
 * Painter of output parts. On a terminal it adds colors and escapes control characters of clients. Elsewhere
 * it returns text unchanged.
 */
export interface Paint {
  time(text: string): string;
  labels(text: string): string;
  /** Text that a client wrote: a line, a value, JSON. */
  given(text: string): string;
  /** Prefix of the further lines of an entry, so that none looks like a separate entry. */
  readonly indent: string;
}

export const NO_PAINT: Paint = { time: text => text, labels: text => text, given: text => text, indent: '' };
