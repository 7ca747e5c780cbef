/**
 * Finds the requests that overlap a day, and which of them may cover rows of a chunk. Requests are found once
 * per interval of quarter days, because chunks far outnumber the hours of a day. Chunks of the same quarters
 * get the same arrays, by which compiled filters are cached. Therefore the result can include requests that
 * end before the chunk begins. The row filter compares the exact times.
 */

import { LruCache } from '../../base/model/lru.ts';
import { NS_OF_DAY, NS_PER_DAY } from '../../base/model/time-units.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { coversChunk } from '../../storage/catalog/delete-request.ts';
import type { DeleteFilter } from './delete-filter.ts';
import { type InclusiveInterval, RequestTimes } from './request-times.ts';
import type { SelectorGroup, SelectorGroups } from './selector-groups.ts';

/** Requests of one selector that may cover rows of a chunk. */
export interface RequestsOfGroup {
  readonly group: SelectorGroup;
  readonly requests: readonly DeleteFilter[];
}

export interface RequestsOfChunk {
  /** Requests found without the chunk's labels or age. Chunks of the same quarters share this array. */
  readonly shared: readonly RequestsOfGroup[];
  /** Requests found for this chunk. */
  readonly own: readonly RequestsOfGroup[];
}

/** Each interval has its own search tables, which take 50 ms to build for 10,000 requests. */
const NS_OF_QUARTER = NS_OF_DAY / 4;
/** Number of all possible intervals of quarters. */
const INTERVALS_PER_DAY = 10;

export class DayRequests {
  readonly times: RequestTimes;
  /** Number of requests that overlap the day. */
  readonly count: number;
  readonly #groups: SelectorGroups;
  readonly #aging: readonly RequestsOfGroup[];
  readonly #intervals = new LruCache<number, QuarterRequests>(INTERVALS_PER_DAY);

  constructor(requests: readonly DeleteFilter[], groups: SelectorGroups, day: number) {
    this.#groups = groups;
    const startNs = BigInt(day) * NS_PER_DAY;
    const inside = (ns: bigint) => (ns < 0n ? -1 : ns >= NS_PER_DAY ? NS_OF_DAY : Number(ns));
    const intervals = new Map<DeleteFilter, { readonly from: number; readonly to: number }>();
    for (const request of requests) {
      const from = inside(request.request.startNs - startNs);
      const to = inside(request.request.endNs - startNs);
      if (from < NS_OF_DAY && to >= 0) intervals.set(request, { from, to });
    }
    this.times = new RequestTimes(intervals);
    this.count = intervals.size;
    const isOfDay = (request: DeleteFilter) => intervals.has(request);
    this.#aging = groups.all.flatMap(group => partOf(group, group.aging, isOfDay));
  }

  /** Requests that apply to the chunk and overlap its quarters. */
  touching({ pairs, first, last, id, asOfMs }: ChunkRecord): RequestsOfChunk {
    const groups = this.#groups;
    const quarters = this.#quartersOf(first, last);
    const isCovering = ({ request }: DeleteFilter) => coversChunk(request, { id, asOfMs });
    const aging = this.#aging.flatMap(({ group, requests }) => {
      const meeting = this.times.meets(requests, { first, last }) && groups.mayMatch(group, pairs);
      return meeting ? partOf(group, requests, isCovering) : [];
    });
    const { byLabels, others } = groups.ofChunk(pairs);
    if (byLabels === 'all') return { shared: quarters.of(groups.all), own: aging };
    return {
      shared: quarters.of(others),
      own: [...byLabels.flatMap(group => quarters.ofGroup(group)), ...aging],
    };
  }

  coversEvenly(record: Pick<ChunkRecord, 'id' | 'asOfMs'>): boolean {
    return this.#aging.every(({ requests }) => requests.every(({ request }) => coversChunk(request, record)));
  }

  #quartersOf(first: number, last: number): QuarterRequests {
    const start = Math.floor(first / NS_OF_QUARTER);
    const end = Math.floor(last / NS_OF_QUARTER) + 1;
    const key = start * 8 + end;
    let quarters = this.#intervals.get(key);
    if (quarters === undefined) {
      const interval = { first: start * NS_OF_QUARTER, last: end * NS_OF_QUARTER - 1 };
      quarters = new QuarterRequests(this.times, interval);
      this.#intervals.set(key, quarters);
    }
    return quarters;
  }
}

/** Steady requests that overlap an interval of quarters. */
class QuarterRequests {
  readonly #times: RequestTimes;
  readonly #interval: InclusiveInterval;
  readonly #byGroup = new Map<SelectorGroup, readonly RequestsOfGroup[]>();
  readonly #lists = new WeakMap<readonly SelectorGroup[], readonly RequestsOfGroup[]>();

  constructor(times: RequestTimes, interval: InclusiveInterval) {
    this.#times = times;
    this.#interval = interval;
  }

  /** Returns at most one entry. Cached, because chunks look up the labels that they have. */
  ofGroup(group: SelectorGroup): readonly RequestsOfGroup[] {
    let part = this.#byGroup.get(group);
    if (part === undefined) {
      part = partOf(group, group.steady, this.#isMeeting);
      this.#byGroup.set(group, part);
    }
    return part;
  }

  /** Returns the same array for the same groups. */
  of(groups: readonly SelectorGroup[]): readonly RequestsOfGroup[] {
    let list = this.#lists.get(groups);
    if (list === undefined) {
      // Usually all requests overlap. Then other quarters and days share the array too.
      list = groups.every(({ steady }) => steady.every(this.#isMeeting))
        ? steadyOf(groups)
        : groups.flatMap(group => partOf(group, group.steady, this.#isMeeting));
      this.#lists.set(groups, list);
    }
    return list;
  }

  readonly #isMeeting = (request: DeleteFilter): boolean => {
    const times = this.#times;
    const { first, last } = this.#interval;
    return times.has(request) && times.from(request) <= last && times.to(request) >= first;
  };
}

const STEADY_LISTS = new WeakMap<readonly SelectorGroup[], readonly RequestsOfGroup[]>();

/** All steady requests of the groups. Returns the same array for the same groups. */
function steadyOf(groups: readonly SelectorGroup[]): readonly RequestsOfGroup[] {
  let list = STEADY_LISTS.get(groups);
  if (list === undefined) {
    list = groups.flatMap(group => partOf(group, group.steady, () => true));
    STEADY_LISTS.set(groups, list);
  }
  return list;
}

/** Selects the wanted requests. Returns the same array if all are wanted. */
function partOf(
  group: SelectorGroup,
  requests: readonly DeleteFilter[],
  isWanted: (request: DeleteFilter) => boolean,
): RequestsOfGroup[] {
  const wanted = requests.filter(isWanted);
  if (wanted.length === 0) return [];
  return [{ group, requests: wanted.length === requests.length ? requests : wanted }];
}
