/** How the parts of an answer look in what a command prints. */
/** How parts are shown: on a terminal coloured, and with nothing in them that it obeys; elsewhere as they are. */
export interface Paint {
  time(text: string): string;
  labels(text: string): string;
  /** What clients wrote: a line, a value, JSON. */
  given(text: string): string;
  /** Before the further lines of an entry, so that none looks like an entry of its own. */
  readonly indent: string;
}

export const NO_PAINT: Paint = { time: text => text, labels: text => text, given: text => text, indent: '' };
