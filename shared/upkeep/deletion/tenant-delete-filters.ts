/**
 * Compiled delete requests of a tenant, and what they leave of a chunk. The checks run from the cheapest to
 * the most expensive: whether the request applies to the chunk (its age), times and label pairs of the chunk,
 * streams and times of a page's runs, and lines.
 *
 * Pitfall: two chunks may hold the same entry, and a request may apply to only one of them. An entry is
 * hidden only in its chunk, and the other copy still counts.
 */

import type { ChunkRowFilter } from '../../base/model/chunk-row-filter.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { PageRows, Run, Stream } from '../../base/model/page.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import { ApplicableRequestCache, type ApplicableRequests } from './applicable-requests.ts';
import { DayRequests, type RequestsOfGroup } from './day-requests.ts';
import { DeleteFilter } from './delete-filter.ts';
import { type Cut, PageDeleteFilter, type PageToFilter } from './page-delete-filter.ts';
import { PageHitsCache } from './page-hits.ts';
import type { InclusiveInterval, RequestTimes } from './request-times.ts';
import { type SelectorGroup, SelectorGroups } from './selector-groups.ts';

export interface TenantDeleteFilters {
  /** Equal if the same requests hide rows in the same way. */
  readonly version: string;
  readonly isEmpty: boolean;
  /** Requests that were compiled, so that a worker can compile the same. */
  readonly definitions: readonly DeleteRequest[];
  /** `undefined` if no request may affect the chunk. */
  forChunk(record: ChunkRecord): ChunkDeleteFilters | undefined;
  /** False if a request of these times does not apply to the chunk, although it may match its rows. */
  coversEvenly(record: ChunkRecord): boolean;
}

interface DeleteFilterOptions {
  readonly clock: Clock;
  /** Cache of rows found in pages. Default: one with the lifetime of the filters. */
  readonly hits?: PageHitsCache;
  readonly version?: string;
}

/** Cached requests of all days, each counted once per day: 200 bytes each. */
const MAX_CACHED_DAY_REQUESTS = 100_000;

/** Throws ParseError and BadRequestError for a request whose query is not a log query. */
export function compileDeleteFilters(
  requests: readonly DeleteRequest[],
  { clock, hits = new PageHitsCache(), version = '' }: DeleteFilterOptions,
): TenantDeleteFilters {
  return new CompiledDeleteFilters(
    requests.map(request => new DeleteFilter(request, clock)).filter(request => request.canRun),
    hits,
    version,
  );
}

class CompiledDeleteFilters implements TenantDeleteFilters {
  readonly version: string;
  readonly isEmpty: boolean;
  readonly definitions: readonly DeleteRequest[];
  readonly #requests: readonly DeleteFilter[];
  readonly #groups: SelectorGroups;
  readonly #hits: PageHitsCache;
  readonly #days = new LruCache<number, DayRequests>(MAX_CACHED_DAY_REQUESTS);
  readonly #sets: ApplicableRequestCache;

  constructor(requests: readonly DeleteFilter[], hits: PageHitsCache, version: string) {
    this.#requests = requests;
    this.#groups = new SelectorGroups(requests);
    this.#sets = new ApplicableRequestCache(this.#groups);
    this.#hits = hits;
    this.version = version;
    this.isEmpty = requests.length === 0;
    this.definitions = requests.map(({ request }) => request);
  }

  forChunk(record: ChunkRecord): ChunkDeleteFilters | undefined {
    if (this.isEmpty) return undefined;
    const groups = this.#groups;
    const sets = this.#sets;
    const hits = this.#hits;
    const day = this.#dayOf(record.day);
    const { times } = day;
    const touching = day.touching(record);
    const isMeeting = ({ requests }: RequestsOfGroup) => times.meets(requests, record);
    if (!touching.own.some(isMeeting) && !touching.shared.some(isMeeting)) return undefined;
    return new ChunkDeleteFilters({ record, times, groups, set: sets.of(touching), sets, hits });
  }

  coversEvenly(record: ChunkRecord): boolean {
    return this.isEmpty || this.#dayOf(record.day).coversEvenly(record);
  }

  #dayOf(number: number): DayRequests {
    let day = this.#days.get(number);
    if (day === undefined) {
      day = new DayRequests(this.#requests, this.#groups, number);
      this.#days.set(number, day, day.count + 1);
    }
    return day;
  }
}

interface ChunkParts {
  readonly record: ChunkRecord;
  readonly times: RequestTimes;
  readonly groups: SelectorGroups;
  /** Requests that apply to the chunk and overlap its quarters of the day. */
  readonly set: ApplicableRequests;
  readonly sets: ApplicableRequestCache;
  readonly hits: PageHitsCache;
}

export class ChunkDeleteFilters implements ChunkRowFilter {
  readonly #parts: ChunkParts;

  constructor(parts: ChunkParts) {
    this.#parts = parts;
  }

  /** False if no request of the chunk's streams and times covers rows of the stream. */
  mayTouch(stream: Stream): boolean {
    return this.mayTakeWhole(stream) || this.#touchesLines(stream, this.#parts.record);
  }

  /** True if a request covers entries of the stream whatever their lines. */
  mayTakeWhole(stream: Stream): boolean {
    const { times, record } = this.#parts;
    return this.#wholeOf(stream).some(requests => times.meets(requests, record));
  }

  /** True if every entry of the stream from `first` to `last`, ns since the start of the day, is hidden. */
  takesAll(stream: Stream, first: number, last: number): boolean {
    const { times } = this.#parts;
    return this.#wholeOf(stream).some(requests => times.holds(requests, { first, last }));
  }

  /** Filter for a page; `undefined` if no row can be hidden, whatever its lines. */
  forPage(page: PageToFilter): PageDeleteFilter | undefined {
    const { record, times, hits, sets, set } = this.#parts;
    const { base, offset } = page.page;
    const cuts: Cut[] = [];
    let touchesLines = false;
    for (const run of page.runs) {
      const stream = page.streams[run.stream];
      touchesLines ||= this.#touchesLines(stream, run);
      if (set.whole.size === 0 && touchesLines) break;
      if (this.#wholeOf(stream).some(requests => times.meets(requests, run)))
        cuts.push(...this.#cutsOf({ ...run, stream }, base));
    }
    if (!touchesLines && cuts.length === 0) return undefined;
    const name = `${record.tenant}/${record.id}/${offset}`;
    const lines = touchesLines ? set.lines : undefined;
    return new PageDeleteFilter({ name, base, cuts, lines, times, hits, sets });
  }

  hide(rows: PageRows, selection: Uint32Array, count: number): number {
    const { record, times, hits, sets, set } = this.#parts;
    const base = Number(rows.baseNs - BigInt(record.day) * NS_PER_DAY);
    const cuts = set.whole.size === 0 ? [] : rows.runs.flatMap(run => this.#cutsOf(run, base));
    const filter = new PageDeleteFilter({ name: '', base, cuts, lines: set.lines, times, hits, sets });
    return filter.hide(rows, selection, count);
  }

  /** Cuts of a run. Times are relative to `base`. */
  #cutsOf({ stream, firstRow, rows }: Run, base: number): Cut[] {
    const { times } = this.#parts;
    return this.#wholeOf(stream).flatMap(requests =>
      requests.map(request => {
        return { firstRow, rows, from: times.from(request) - base, to: times.to(request) - base };
      }),
    );
  }

  /** Requests without stages, grouped by selector. */
  #wholeOf(stream: Stream): (readonly DeleteFilter[])[] {
    const { groups, set } = this.#parts;
    return set.whole.size === 0 ? [] : membersOf(set.whole, groups.of(stream));
  }

  #touchesLines(stream: Stream, interval: InclusiveInterval): boolean {
    const { groups, set, times } = this.#parts;
    if (set.lines === undefined) return false;
    return membersOf(set.byLine, groups.of(stream)).some(requests => times.meets(requests, interval));
  }
}

function membersOf(
  byGroup: ApplicableRequests['whole'],
  groups: readonly SelectorGroup[],
): (readonly DeleteFilter[])[] {
  const members: (readonly DeleteFilter[])[] = [];
  for (const group of groups) {
    const ofGroup = byGroup.get(group);
    if (ofGroup !== undefined) members.push(ofGroup);
  }
  return members;
}
