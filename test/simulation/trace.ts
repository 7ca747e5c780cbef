/** Calls of the ports of a run, in order: two runs of one seed must have the same hash. */
import { createHash } from 'node:crypto';

/** Lines kept for the analysis of a failed run; the hash covers all of them. */
const MAX_KEPT_LINES = 20_000;

export class Trace {
  readonly lines: string[] = [];
  count = 0;
  readonly #sum = createHash('sha256');

  add(line: string): void {
    this.count++;
    this.#sum.update(line).update('\n');
    if (this.lines.length < MAX_KEPT_LINES) this.lines.push(line);
  }

  /** Hash of the lines so far. */
  hash(): string {
    return this.#sum.copy().digest('hex');
  }
}
