/**
 * The delete requests of a tenant, compiled, and what they leave of a chunk. From the outside in, the cheapest fact first:
 * whether the request covers the chunk (its age), times and label pairs of the chunk, streams and times of a page's runs, and
 * only then lines. What a reader would get wrong: two chunks may hold the same entry, and a request may cover one of them
 * only; so what is hidden is hidden in its chunk, and the other copy still counts.
 */
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import { coversChunk, type DeleteRequest } from '../catalog/delete-request.ts';
import { NS_PER_DAY } from '../model/duration.ts';
import { LruCache } from '../model/lru.ts';
import type { PageRows, Run, Stream } from '../model/page.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChunkMask } from './chunk-mask.ts';
import { MaskRequest } from './mask-request.ts';
import { LineMasks, type MaskTimes } from './masked-rows.ts';
import { PageHitsCache } from './page-hits.ts';
import { type Cut, PageMask, type PageOfMask } from './page-mask.ts';
import { type SelectorGroup, SelectorGroups } from './selector-groups.ts';

export interface TenantMasks {
  /** Equal where the same requests mask in the same way. */
  readonly version: string;
  readonly isEmpty: boolean;
  /** Undefined where no request may touch the chunk. */
  forChunk(record: ChunkRecord): ChunkMasks | undefined;
  /** False where some request of these times does not cover the chunk, though it may have its rows. */
  coversEvenly(record: ChunkRecord): boolean;
}

export interface CompileOptions {
  readonly clock: Clock;
  /** Where what is found in pages is remembered; by default for as long as the masks. */
  readonly hits?: PageHitsCache;
  readonly version?: string;
}

/** Days whose times are kept: 160 KB each with 10,000 requests. */
const KEPT_DAYS = 64;
/** Sets of requests that chunks have in common, each with its tables. */
const KEPT_SETS = 64;

/** Throws ParseError and BadRequestError for a request whose query is no log query. */
export function compileMasks(
  requests: readonly DeleteRequest[],
  { clock, hits = new PageHitsCache(), version = '' }: CompileOptions,
): TenantMasks {
  return new CompiledMasks(
    requests.map(request => new MaskRequest(request, clock)),
    hits,
    version,
  );
}

class CompiledMasks implements TenantMasks {
  readonly version: string;
  readonly isEmpty: boolean;
  private readonly requests: readonly MaskRequest[];
  private readonly groups: SelectorGroups;
  private readonly hits: PageHitsCache;
  private readonly days = new LruCache<number, DayRequests>(KEPT_DAYS);
  private readonly sets = new LruCache<string, LineMasks>(KEPT_SETS);
  private lastSet: LineMasks | undefined;

  constructor(requests: readonly MaskRequest[], hits: PageHitsCache, version: string) {
    this.requests = requests;
    this.groups = new SelectorGroups(requests);
    this.hits = hits;
    this.version = version;
    this.isEmpty = requests.length === 0;
  }

  forChunk(record: ChunkRecord): ChunkMasks | undefined {
    if (this.isEmpty) return undefined;
    const day = this.dayOf(record.day);
    const touching: MaskRequest[] = [];
    for (const { group, requests } of day.byGroup) {
      if (!group.mayMatch(record.pairs)) continue;
      for (const request of requests) {
        const meets = day.from(request) <= record.last && day.to(request) >= record.first;
        if (meets && coversChunk(request.request, record)) touching.push(request);
      }
    }
    if (touching.length === 0) return undefined;
    return new ChunkMasks({ record, day, groups: this.groups, touching, hits: this.hits, lines: this.lines });
  }

  coversEvenly(record: ChunkRecord): boolean {
    if (this.isEmpty) return true;
    const { requests } = this.dayOf(record.day);
    return requests.every(({ request }) => coversChunk(request, record));
  }

  private dayOf(number: number): DayRequests {
    let day = this.days.get(number);
    if (day === undefined) {
      day = new DayRequests(this.requests, this.groups, number);
      this.days.set(number, day);
    }
    return day;
  }

  /** Tables of a set of requests; the same for the same set. */
  private readonly lines = (requests: readonly MaskRequest[]): LineMasks => {
    // Most chunks of a day have the same.
    const last = this.lastSet;
    if (last !== undefined && isSame(last.requests, requests)) return last;
    this.lastSet = this.interned(requests);
    return this.lastSet;
  };

  private interned(requests: readonly MaskRequest[]): LineMasks {
    const key = requests.map(({ key: one }) => one).join('\n');
    let masks = this.sets.get(key);
    if (masks === undefined) {
      masks = new LineMasks(requests, this.groups);
      this.sets.set(key, masks);
    }
    return masks;
  }
}

function isSame(a: readonly MaskRequest[], b: readonly MaskRequest[]): boolean {
  return a.length === b.length && a.every((request, i) => request === b[i]);
}

const NS_OF_DAY = Number(NS_PER_DAY);

/** Requests whose times meet a day. */
class DayRequests implements MaskTimes {
  readonly requests: readonly MaskRequest[];
  readonly byGroup: readonly { readonly group: SelectorGroup; readonly requests: readonly MaskRequest[] }[];
  private readonly times = new Map<MaskRequest, { readonly from: number; readonly to: number }>();

  constructor(requests: readonly MaskRequest[], groups: SelectorGroups, day: number) {
    const startNs = BigInt(day) * NS_PER_DAY;
    const inside = (ns: bigint) => (ns < 0n ? -1 : ns >= NS_PER_DAY ? NS_OF_DAY : Number(ns));
    for (const request of requests) {
      const from = inside(request.request.startNs - startNs);
      const to = inside(request.request.endNs - startNs);
      if (from < NS_OF_DAY && to >= 0) this.times.set(request, { from, to });
    }
    this.requests = [...this.times.keys()];
    this.byGroup = groups.all.flatMap(group => {
      const ofGroup = group.requests.filter(request => this.times.has(request));
      return ofGroup.length === 0 ? [] : [{ group, requests: ofGroup }];
    });
  }

  from(request: MaskRequest): number {
    return this.times.get(request)!.from;
  }

  to(request: MaskRequest): number {
    return this.times.get(request)!.to;
  }
}

interface ChunkParts {
  readonly record: ChunkRecord;
  readonly day: MaskTimes;
  readonly groups: SelectorGroups;
  /** Requests that cover the chunk and meet its times. */
  readonly touching: readonly MaskRequest[];
  readonly hits: PageHitsCache;
  lines(requests: readonly MaskRequest[]): LineMasks;
}

export class ChunkMasks implements ChunkMask {
  private readonly parts: ChunkParts;
  private readonly whole: ReadonlySet<MaskRequest>;
  private readonly lines: LineMasks | undefined;

  constructor(parts: ChunkParts) {
    const { touching, lines } = parts;
    this.parts = parts;
    this.whole = new Set(touching.filter(({ isWhole }) => isWhole));
    const byLine = touching.filter(({ isWhole }) => !isWhole);
    this.lines = byLine.length === 0 ? undefined : lines(byLine);
  }

  mayTouch(stream: Stream): boolean {
    return this.wholeOf(stream).length > 0 || this.linesOf(stream).length > 0;
  }

  /** True where some request takes entries of the stream whatever their lines. */
  mayTakeWhole(stream: Stream): boolean {
    return this.wholeOf(stream).length > 0;
  }

  /** True where every entry of the stream from `first` to `last`, ns since the start of the day, is hidden. */
  takesAll(stream: Stream, first: number, last: number): boolean {
    const { day } = this.parts;
    return this.wholeOf(stream).some(request => day.from(request) <= first && day.to(request) >= last);
  }

  /** What is hidden in a page; undefined where nothing is, whatever its lines. */
  forPage(page: PageOfMask): PageMask | undefined {
    const { record, day, hits, lines } = this.parts;
    const { base, offset } = page.page;
    const cuts: Cut[] = [];
    let touchesLines = false;
    for (const run of page.runs) {
      const stream = page.streams[run.stream];
      const meets = (request: MaskRequest) => day.from(request) <= run.last && day.to(request) >= run.first;
      touchesLines ||= this.linesOf(stream).some(members => members.some(meets));
      if (this.whole.size > 0) cuts.push(...this.cutsOf({ ...run, stream }, base));
      else if (touchesLines) break;
    }
    if (!touchesLines && cuts.length === 0) return undefined;
    const name = `${record.tenant}/${record.id}/${offset}`;
    return new PageMask({
      name,
      base,
      cuts,
      lines: touchesLines ? this.lines : undefined,
      times: day,
      hits,
      setOf: lines,
    });
  }

  hide(rows: PageRows, selection: Uint32Array, count: number): number {
    const { record, day, hits, lines } = this.parts;
    const base = Number(rows.baseNs - BigInt(record.day) * NS_PER_DAY);
    const cuts = this.whole.size === 0 ? [] : rows.runs.flatMap(run => this.cutsOf(run, base));
    const mask = new PageMask({ name: '', base, cuts, lines: this.lines, times: day, hits, setOf: lines });
    return mask.hide(rows, selection, count);
  }

  /** Of a run; times relative to `base`. */
  private cutsOf({ stream, firstRow, rows }: Run, base: number): Cut[] {
    const { day } = this.parts;
    return this.wholeOf(stream).map(request => {
      return { firstRow, rows, from: day.from(request) - base, to: day.to(request) - base };
    });
  }

  private wholeOf(stream: Stream): MaskRequest[] {
    if (this.whole.size === 0) return [];
    const groups = this.parts.groups.of(stream);
    return groups.flatMap(({ requests }) => requests.filter(request => this.whole.has(request)));
  }

  /** Members, of this chunk, of the groups that match the stream. */
  private linesOf(stream: Stream): (readonly MaskRequest[])[] {
    const { lines } = this;
    if (lines === undefined) return [];
    return this.parts.groups.of(stream).flatMap(group => {
      const members = lines.byGroup.get(group);
      return members === undefined ? [] : [members];
    });
  }
}
