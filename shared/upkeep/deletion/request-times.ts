/**
 * Times of requests on one day. Finds whether any of many requests overlaps or contains an interval. Many
 * requests are sorted by start, each with the latest end so far, so that a binary search replaces a check of
 * each.
 */
import { binaryFirst } from '../../base/model/binary-search.ts';
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

/** Fewer requests are checked one by one. */
const FEW_REQUESTS = 16;

interface Ordered {
  readonly from: Float64Array;
  /** Latest end of this request and those before it. */
  readonly latestTo: Float64Array;
}

export class RequestTimes {
  readonly #intervals: ReadonlyMap<DeleteFilter, Interval>;
  readonly #ordered = new WeakMap<readonly DeleteFilter[], Ordered>();

  constructor(intervals: ReadonlyMap<DeleteFilter, Interval>) {
    this.#intervals = intervals;
  }

  /** False if the request does not overlap the day. Then it has no times. */
  has(request: DeleteFilter): boolean {
    return this.#intervals.has(request);
  }

  from(request: DeleteFilter): number {
    return this.#intervals.get(request)!.from;
  }

  to(request: DeleteFilter): number {
    return this.#intervals.get(request)!.to;
  }

  /** True if one of them contains an instant of the interval. Their order is cached by the array. */
  meets(requests: readonly DeleteFilter[], { first, last }: InclusiveInterval): boolean {
    return this.#reaches(requests, last, first);
  }

  /** True if one of them contains the whole interval. */
  holds(requests: readonly DeleteFilter[], { first, last }: InclusiveInterval): boolean {
    return this.#reaches(requests, first, last);
  }

  /** True if one starts at or before `from` and ends at or after `to`. */
  #reaches(requests: readonly DeleteFilter[], from: number, to: number): boolean {
    if (requests.length < FEW_REQUESTS) {
      return requests.some(request => this.from(request) <= from && this.to(request) >= to);
    }
    const ordered = this.#orderedOf(requests);
    const later = binaryFirst(ordered.from.length, i => ordered.from[i] > from);
    return later > 0 && ordered.latestTo[later - 1] >= to;
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
