/** Chunks of one tenant and day made from plain entries, and what an index must say of them: the model. */
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { minuteOf } from '../../shared/storage/chunk/counts.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import type { DayIndex } from '../../shared/storage/index/day-index.ts';
import type { ChunkFooter } from '../../shared/storage/index/write.ts';
import { arbitraryEntries, type PlainEntry, rowsOf, streamOf } from '../support/rows.ts';

export const TENANT = 't-1';
export const DAY = 20_412;

export interface PlainChunk {
  readonly id: string;
  readonly entries: readonly PlainEntry[];
}

/** A few chunks of distinct ids, in any order. */
export function arbitraryChunks(maxChunks = 6, maxEntries = 25): fc.Arbitrary<PlainChunk[]> {
  const id = fc.integer({ min: 0, max: 0xffff }).map(n => n.toString(16).padStart(4, '0').repeat(8));
  const chunk = fc.record({ id, entries: arbitraryEntries(maxEntries) });
  return fc.uniqueArray(chunk, { maxLength: maxChunks, selector: one => one.id });
}

export async function footerOfChunk({ id, entries }: PlainChunk): Promise<ChunkFooter> {
  const head = { id, tenant: TENANT, day: DAY, level: 0, createdMs: 1, inputs: [] };
  const { footer } = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
  return { id, footer };
}

export function footersOf(chunks: readonly PlainChunk[]): Promise<ChunkFooter[]> {
  return Promise.all(chunks.map(footerOfChunk));
}

interface Sums {
  entries: number;
  lineBytes: number;
  metadataBytes: number;
}

function add(sums: Map<string, Sums>, key: string, more: Sums): void {
  const known = sums.get(key) ?? { entries: 0, lineBytes: 0, metadataBytes: 0 };
  sums.set(key, {
    entries: known.entries + more.entries,
    lineBytes: known.lineBytes + more.lineBytes,
    metadataBytes: known.metadataBytes + more.metadataBytes,
  });
}

/** Contents of an index, keyed by text, so that they can be compared for any numbers. */
export interface Told {
  readonly streams: readonly string[];
  readonly chunks: ReadonlyMap<string, ToldChunk>;
}

interface ToldChunk {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  /** First time, last time and sums by stream. */
  readonly presence: ReadonlyMap<string, Sums & { readonly first: number; readonly last: number }>;
  /** Sums by stream, level and minute. */
  readonly counts: ReadonlyMap<string, Sums>;
}

export function expectedOf(chunks: readonly PlainChunk[]): Told {
  const texts = new Set(chunks.flatMap(({ entries }) => entries.map(({ stream }) => streamOf(stream).text)));
  return {
    streams: [...texts].sort(compareUtf8),
    chunks: new Map(chunks.map(({ id, entries }) => [id, expectedChunk(entries)])),
  };
}

function expectedChunk(entries: readonly PlainEntry[]): ToldChunk {
  const sums = new Map<string, Sums>();
  const counts = new Map<string, Sums>();
  const bounds = new Map<string, { first: number; last: number }>();
  for (const { stream, time, line, metadata } of entries) {
    const { text } = streamOf(stream);
    const pairs = Object.entries(metadata);
    const metadataBytes = pairs.reduce((n, [k, v]) => n + Buffer.byteLength(k) + Buffer.byteLength(v), 0);
    const one = { entries: 1, lineBytes: Buffer.byteLength(line), metadataBytes };
    add(sums, text, one);
    add(counts, `${text} ${metadata.detected_level ?? ''} ${minuteOf(time)}`, one);
    const known = bounds.get(text) ?? { first: Infinity, last: 0 };
    bounds.set(text, { first: Math.min(known.first, time), last: Math.max(known.last, time) });
  }
  const times = entries.map(({ time }) => time);
  return {
    first: Math.min(...times),
    last: Math.max(...times),
    rows: entries.length,
    presence: new Map([...sums].map(([text, sum]) => [text, { ...sum, ...bounds.get(text)! }])),
    counts,
  };
}

/** Reads everything of an index, block by block. */
export async function toldBy(index: DayIndex): Promise<Told> {
  const chunks = new Map<string, ToldChunk>();
  for (const { id, first, last, rows } of index.chunks) {
    const presence = index.presenceOf(id)!;
    const { levels, counts } = (await index.counts(id))!;
    const ofStream: [string, Sums & { first: number; last: number }][] = [];
    const ofMinute = new Map<string, Sums>();
    presence.streams.forEach((s, i) => {
      const { text } = index.streams[s];
      ofStream.push([
        text,
        {
          first: presence.first[i],
          last: presence.last[i],
          entries: presence.entries[i],
          lineBytes: presence.lineBytes[i],
          metadataBytes: presence.metadataBytes[i],
        },
      ]);
      for (const { level, minutes, entries, lineBytes, metadataBytes } of counts[i]) {
        minutes.forEach((minute, m) => {
          const sums = { entries: entries[m], lineBytes: lineBytes[m], metadataBytes: metadataBytes[m] };
          add(ofMinute, `${text} ${levels[level]} ${minute}`, sums);
        });
      }
    });
    chunks.set(id, { first, last, rows, presence: new Map(ofStream), counts: ofMinute });
  }
  return { streams: index.streams.map(({ text }) => text), chunks };
}
