/**
 * Requests whose times meet a day, and which of them may touch a chunk of it. Chunks far outnumber the hours of a day, so
 * requests are found once for each stretch of quarters of the day, and chunks of the same quarters get the same arrays: it
 * is by these that whoever compiles them knows that it has compiled them before. So some may be among them whose times
 * end before the chunk begins; rows are compared with times of their own.
 */

import { NS_PER_DAY } from '../../base/model/duration.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { coversChunk } from '../../storage/catalog/delete-request.ts';
import type { DeleteFilter } from './delete-filter.ts';
import { type InclusiveInterval, RequestTimes } from './request-times.ts';
import type { SelectorGroup, SelectorGroups } from './selector-groups.ts';

/** Requests of one selector that may touch a chunk. */
export interface RequestsOfGroup {
  readonly group: SelectorGroup;
  readonly requests: readonly DeleteFilter[];
}

export interface RequestsOfChunk {
  /** Found without a look at the chunk's labels or age: the same array for chunks of the same quarters. */
  readonly shared: readonly RequestsOfGroup[];
  /** The others, found for this chunk. */
  readonly own: readonly RequestsOfGroup[];
}

const NS_OF_DAY = Number(NS_PER_DAY);
/** Each stretch has its tables of texts; with 10,000 requests they take 50 ms to make. */
const NS_OF_QUARTER = NS_OF_DAY / 4;
/** All that there are. */
const KEPT_STRETCHES = 10;

export class DayRequests {
  readonly times: RequestTimes;
  /** How many there are. */
  readonly count: number;
  readonly #groups: SelectorGroups;
  readonly #aging: readonly RequestsOfGroup[];
  readonly #stretches = new LruCache<number, QuarterRequests>(KEPT_STRETCHES);

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

  /** All that cover the chunk and meet its quarters. */
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
    let quarters = this.#stretches.get(key);
    if (quarters === undefined) {
      const stretch = { first: start * NS_OF_QUARTER, last: end * NS_OF_QUARTER - 1 };
      quarters = new QuarterRequests(this.times, stretch);
      this.#stretches.set(key, quarters);
    }
    return quarters;
  }
}

/** Steady requests that meet a stretch of quarters. */
class QuarterRequests {
  readonly #times: RequestTimes;
  readonly #stretch: InclusiveInterval;
  readonly #byGroup = new Map<SelectorGroup, readonly RequestsOfGroup[]>();
  readonly #lists = new WeakMap<readonly SelectorGroup[], readonly RequestsOfGroup[]>();

  constructor(times: RequestTimes, stretch: InclusiveInterval) {
    this.#times = times;
    this.#stretch = stretch;
  }

  /** At most one; kept, as chunks ask for the labels that they have. */
  ofGroup(group: SelectorGroup): readonly RequestsOfGroup[] {
    let part = this.#byGroup.get(group);
    if (part === undefined) {
      part = partOf(group, group.steady, this.#isMeeting);
      this.#byGroup.set(group, part);
    }
    return part;
  }

  /** The same array for the same groups. */
  of(groups: readonly SelectorGroup[]): readonly RequestsOfGroup[] {
    let list = this.#lists.get(groups);
    if (list === undefined) {
      // Most often all do, and then it is the array of other quarters and days too.
      list = groups.every(({ steady }) => steady.every(this.#isMeeting))
        ? steadyOf(groups)
        : groups.flatMap(group => partOf(group, group.steady, this.#isMeeting));
      this.#lists.set(groups, list);
    }
    return list;
  }

  readonly #isMeeting = (request: DeleteFilter): boolean => {
    const times = this.#times;
    const { first, last } = this.#stretch;
    return times.has(request) && times.from(request) <= last && times.to(request) >= first;
  };
}

const steadyLists = new WeakMap<readonly SelectorGroup[], readonly RequestsOfGroup[]>();

/** All steady requests of the groups; the same array for the same groups. */
function steadyOf(groups: readonly SelectorGroup[]): readonly RequestsOfGroup[] {
  let list = steadyLists.get(groups);
  if (list === undefined) {
    list = groups.flatMap(group => partOf(group, group.steady, () => true));
    steadyLists.set(groups, list);
  }
  return list;
}

/** Those of the requests that are wanted, if any; the same array where all are. */
function partOf(
  group: SelectorGroup,
  requests: readonly DeleteFilter[],
  isWanted: (request: DeleteFilter) => boolean,
): RequestsOfGroup[] {
  const wanted = requests.filter(isWanted);
  if (wanted.length === 0) return [];
  return [{ group, requests: wanted.length === requests.length ? requests : wanted }];
}
