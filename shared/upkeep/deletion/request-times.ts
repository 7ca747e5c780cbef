/**
 * Times of requests on one day, and whether any of many meets or holds a stretch of it. Where there are many, they are kept
 * by their start, each with the latest end of those up to it: two steps of a search instead of a look at each.
 */
import { firstPlace } from '../../base/model/binary-search.ts';
import type { DeleteFilter } from './delete-filter.ts';

/** Ns since the start of the day, both inclusive. */
export interface InclusiveInterval {
  readonly first: number;
  readonly last: number;
}

/** Ns since the start of the day, both inclusive. */
interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Fewer are looked at one by one. */
const FEW_REQUESTS = 16;

interface Ordered {
  readonly from: Float64Array;
  /** The latest end of this one and those before it. */
  readonly latestTo: Float64Array;
}

export class RequestTimes {
  readonly #intervals: ReadonlyMap<DeleteFilter, Interval>;
  readonly #ordered = new WeakMap<readonly DeleteFilter[], Ordered>();

  constructor(intervals: ReadonlyMap<DeleteFilter, Interval>) {
    this.#intervals = intervals;
  }

  /** False where the request's times do not meet the day: it has none then. */
  has(request: DeleteFilter): boolean {
    return this.#intervals.has(request);
  }

  from(request: DeleteFilter): number {
    return this.#intervals.get(request)!.from;
  }

  to(request: DeleteFilter): number {
    return this.#intervals.get(request)!.to;
  }

  /** True where one of them has a moment of the stretch. They are remembered by their array. */
  meets(requests: readonly DeleteFilter[], { first, last }: InclusiveInterval): boolean {
    return this.#reaches(requests, last, first);
  }

  /** True where one of them has all of the stretch. */
  holds(requests: readonly DeleteFilter[], { first, last }: InclusiveInterval): boolean {
    return this.#reaches(requests, first, last);
  }

  /** True where one that starts at or before `from` ends at or after `to`. */
  #reaches(requests: readonly DeleteFilter[], from: number, to: number): boolean {
    if (requests.length < FEW_REQUESTS) {
      return requests.some(request => this.from(request) <= from && this.to(request) >= to);
    }
    const ordered = this.#orderedOf(requests);
    const started = firstPlace(0, ordered.from.length, i => ordered.from[i] > from);
    return started > 0 && ordered.latestTo[started - 1] >= to;
  }

  #orderedOf(requests: readonly DeleteFilter[]): Ordered {
    let ordered = this.#ordered.get(requests);
    if (ordered === undefined) {
      const sorted = requests.map(request => this.#intervals.get(request)!).sort((a, b) => a.from - b.from);
      const latestTo = Float64Array.from(sorted, ({ to }) => to);
      for (let i = 1; i < latestTo.length; i++) latestTo[i] = Math.max(latestTo[i], latestTo[i - 1]);
      ordered = { from: Float64Array.from(sorted, ({ from }) => from), latestTo };
      this.#ordered.set(requests, ordered);
    }
    return ordered;
  }
}
