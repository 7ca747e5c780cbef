/**
 * Finds the streams with at least one entry in an interval of a day: exactly those, however chunks contain
 * the entries. The cheapest data decides: bounds, then whole minutes, then timestamps. A stream found in one
 * chunk is not searched in others.
 *
 *               from          to
 *                |------------|
 *     x-------x                       absent: the last entry is before
 *         x----------x                present: the last entry is inside
 *         x----------------------x    open: minutes or timestamps show whether another one is inside
 *
 * The data comes from the day index for the chunks that it covers, otherwise from footers. Only chunks in
 * `records` count: entries of the index for deleted chunks are ignored.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BadRequestError, CorruptionError } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { countsOf, type Footer } from '../../storage/chunk/format.ts';
import type { ChunkCounts } from '../../storage/index/format.ts';
import type { IndexOfDay } from '../../storage/index/joined-index.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { StreamSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';
import { searchPages } from './stream-presence-pages.ts';
import { boundsVerdict, type DayInterval, minutesVerdict, Verdict } from './stream-presence-verdict.ts';

/** Maximum footers read at once: on S3 each takes 30 ms, and files do not wait. */
const FOOTERS_AT_ONCE = 32;
/** Covered chunks checked before the thread yields: a small one takes 10 µs. */
const CHUNKS_PER_SLICE = 256;
/**
 * Maximum streams found per day and per response: each takes about a kilobyte of labels and text. By default
 * a tenant has up to 5,000 active ones.
 */
export const MAX_FOUND = 300_000;
/** Maximum streams of chunks whose timestamps are pending. Beyond it, the pending ones are searched first. */
const MAX_OPEN = 50_000;

interface PresenceRequest extends DayInterval {
  readonly source: ChunkSource;
  /** Chunks of one tenant and day. */
  readonly records: readonly ChunkRecord[];
  /** Index of the same tenant and day. */
  readonly index: IndexOfDay | undefined;
  readonly selector: StreamSelector;
  readonly statistics: QueryStatistics;
  readonly signal: AbortSignal;
}

/**
 * Returns the streams in no order. Throws BadRequestError if there are too many, errors of the store,
 * CorruptionError, and the signal's reason.
 */
export async function presentStreams(request: PresenceRequest): Promise<Stream[]> {
  const { records, index, selector, from, to } = request;
  const possible = records.filter(
    record => record.last >= from && record.first < to && selector.mayMatch(record.pairs),
  );
  const search = new DaySearch(request);
  if (index !== undefined) {
    const covered = possible.filter(({ id }) => index.covers(id));
    if (covered.length > 0) await search.byIndex(index, covered);
  }
  await search.byFooters(index === undefined ? possible : possible.filter(({ id }) => !index.covers(id)));
  await search.settleOpen();
  return search.streams;
}

/** Throws BadRequestError if more than MAX_FOUND were found. */
export function checkFound(count: number, what: 'streams' | 'values'): void {
  if (count <= MAX_FOUND) return;
  throw new BadRequestError(
    `the query matches too many ${what} (limit: ${MAX_FOUND}); consider adding more specific stream selectors or reducing the time range`,
  );
}

/**
 * An index is derived data: if its counts are corrupt, footers replace it. Index sync reads them too, and
 * reports it.
 */
function withoutBroken(error: unknown): undefined {
  if (error instanceof CorruptionError || error instanceof ObjectNotFoundError) return undefined;
  throw error;
}

/** State of a stream of the index. */
const Known = { nothing: 0, wanted: 1, settled: 2 } as const;

class DaySearch {
  readonly #request: PresenceRequest;
  readonly #present = new Map<string, Stream>();
  /** Streams that only timestamps can decide, by chunk. */
  readonly #open = new Map<ChunkRecord, Map<string, Stream>>();
  #openStreams = 0;

  constructor(request: PresenceRequest) {
    this.#request = request;
  }

  get streams(): Stream[] {
    return [...this.#present.values()];
  }

  async byIndex(index: IndexOfDay, records: readonly ChunkRecord[]): Promise<void> {
    const { selector, from, to, signal } = this.#request;
    const known = new Uint8Array(index.streams.length);
    const undecided: ChunkRecord[] = [];
    for (let r = 0; r < records.length; r++) {
      const { streams, first, last } = index.presenceOf(records[r].id)!;
      let isOpen = false;
      for (let i = 0; i < streams.length; i++) {
        const s = streams[i];
        if (known[s] === Known.settled) continue;
        if (known[s] === Known.nothing) {
          known[s] = selector.matches(index.streams[s]) ? Known.wanted : Known.settled;
          if (known[s] === Known.settled) continue;
        }
        const verdict = boundsVerdict(first[i], last[i], from, to);
        if (verdict === Verdict.open) isOpen = true;
        if (verdict !== Verdict.present) continue;
        known[s] = Known.settled;
        this.#found(index.streams[s]);
      }
      if (isOpen) undecided.push(records[r]);
      if (r % CHUNKS_PER_SLICE === CHUNKS_PER_SLICE - 1) {
        signal.throwIfAborted();
        await nextTurn();
      }
    }
    await this.#byIndexMinutes(index, undecided, known);
  }

  /** Decides chunks with streams that the bounds leave open. */
  async #byIndexMinutes(
    index: IndexOfDay,
    records: readonly ChunkRecord[],
    known: Uint8Array,
  ): Promise<void> {
    const { from, to, signal } = this.#request;
    const isOpen = (id: string) => {
      const { streams, first, last } = index.presenceOf(id)!;
      return streams.some(
        (s, i) => known[s] === Known.wanted && boundsVerdict(first[i], last[i], from, to) === Verdict.open,
      );
    };
    // Meanwhile other chunks may have decided all of them.
    const byId = new Map(records.filter(({ id }) => isOpen(id)).map(record => [record.id, record]));
    const reader = index.countsOf(byId.keys());
    for (let chunks = 1; ; chunks++) {
      const next = await reader.next().catch(withoutBroken);
      if (next === undefined) return this.byFooters([...byId.values()]);
      if (next.done) return;
      const [id, { counts }] = next.value;
      this.#byCounts(index, byId.get(id)!, counts, known);
      byId.delete(id);
      if (this.#openStreams > MAX_OPEN) await this.settleOpen();
      if (chunks % CHUNKS_PER_SLICE !== 0) continue;
      signal.throwIfAborted();
      await nextTurn();
    }
  }

  #byCounts(index: IndexOfDay, record: ChunkRecord, counts: ChunkCounts['counts'], known: Uint8Array): void {
    const { from, to } = this.#request;
    const { streams, first, last } = index.presenceOf(record.id)!;
    for (let i = 0; i < streams.length; i++) {
      const s = streams[i];
      if (known[s] !== Known.wanted) continue;
      if (boundsVerdict(first[i], last[i], from, to) !== Verdict.open) continue;
      const verdict = minutesVerdict(counts[i], { from, to });
      if (verdict === Verdict.open) this.#addOpen(record, index.streams[s]);
      if (verdict !== Verdict.present) continue;
      known[s] = Known.settled;
      this.#found(index.streams[s]);
    }
  }

  async byFooters(records: readonly ChunkRecord[]): Promise<void> {
    const { source, signal } = this.#request;
    for (let i = 0; i < records.length; i += FOOTERS_AT_ONCE) {
      signal.throwIfAborted();
      const some = records.slice(i, i + FOOTERS_AT_ONCE);
      const footers = await Promise.all(some.map(record => source.footer(record)));
      for (let j = 0; j < some.length; j++) this.#byFooter(some[j], footers[j]);
      if (this.#openStreams > MAX_OPEN) await this.settleOpen();
      // Footers in records and caches never wait, so yield to others explicitly.
      await nextTurn();
    }
  }

  #byFooter(record: ChunkRecord, footer: Footer): void {
    const { selector, from, to } = this.#request;
    const wanted = footer.streams.map(stream => !this.#present.has(stream.text) && selector.matches(stream));
    if (!wanted.includes(true)) return;
    const open = new Set<number>();
    for (const page of footer.pages) {
      for (const run of page.runs) {
        const s = run.stream;
        if (!wanted[s]) continue;
        const verdict = boundsVerdict(run.first, run.last, from, to);
        if (verdict === Verdict.open) open.add(s);
        if (verdict !== Verdict.present) continue;
        wanted[s] = false;
        this.#found(footer.streams[s]);
      }
    }
    for (const s of open) {
      if (!wanted[s]) continue;
      const stream = footer.streams[s];
      const verdict = minutesVerdict(countsOf(footer, s), { from, to });
      if (verdict === Verdict.present) this.#found(stream);
      if (verdict === Verdict.open) this.#addOpen(record, stream);
    }
  }

  #found(stream: Stream): void {
    this.#present.set(stream.text, stream);
    checkFound(this.#present.size, 'streams');
  }

  #addOpen(record: ChunkRecord, stream: Stream): void {
    if (this.#present.has(stream.text)) return;
    const ofChunk = this.#open.get(record);
    if (ofChunk === undefined) this.#open.set(record, new Map([[stream.text, stream]]));
    else ofChunk.set(stream.text, stream);
    this.#openStreams++;
  }

  /** Searches timestamps, chunks with most open streams first. */
  async settleOpen(): Promise<void> {
    const { from, to, source, statistics, signal } = this.#request;
    const chunks = [...this.#open].sort((a, b) => b[1].size - a[1].size);
    this.#open.clear();
    this.#openStreams = 0;
    for (const [record, streams] of chunks) {
      signal.throwIfAborted();
      const search = {
        from,
        to,
        source,
        statistics,
        signal,
        isKnown: (text: string) => this.#present.has(text),
        found: (text: string) => this.#found(streams.get(text)!),
      };
      await searchPages(search, record, new Set(streams.keys()));
    }
  }
}
