/**
 * Writes index objects: from the footers of chunks, or from an older index, the chunks that are gone and the footers of
 * those that are new. Both ways give the same bytes for the same chunks, so a sync reads only new footers.
 *
 * What a reader would get wrong: chunks beyond the bounds in format.ts are left out and not an error, because an index
 * that covers some chunks is a right one; DayIndex.covers tells.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteWriter } from '../chunk/byte-io.ts';
import { PUSH_COMPRESSION, type StoredBlock, storeBlock } from '../chunk/compression.ts';
import type { Footer } from '../chunk/format.ts';
import { compareUtf8 } from '../model/bytes.ts';
import { CorruptionError, invariant } from '../model/errors.ts';
import type { Stream } from '../model/page.ts';
import { encodeCounts } from './counts-block.ts';
import type { DayIndex } from './day-index.ts';
import { type ChunkEntry, encodeDirectory } from './directory.ts';
import {
  type ChunkPresence,
  type ChunkSummary,
  MAX_INDEX_CHUNKS,
  MAX_INDEX_COUNTS_BYTES,
  MAX_INDEX_PRESENCES,
  MAX_INDEX_STREAM_BYTES,
} from './format.ts';
import { presenceOfFooter, writePresence } from './presence.ts';
import { encodeStreams } from './stream-list.ts';

/** Chunks packed or taken over before others get their turn: a small one takes 30 µs. */
const CHUNKS_PER_TURN = 64;

export interface ChunkFooter {
  /** 32 hex digits, the footer's own. */
  readonly id: string;
  readonly footer: Footer;
}

export interface IndexInput {
  readonly tenant: string;
  readonly day: number;
  /** Unix ms. */
  readonly createdMs: number;
  readonly chunks: readonly ChunkFooter[];
}

export interface IndexChange {
  /** Unix ms. */
  readonly createdMs: number;
  /** Ids of chunks that it is not to cover any more. */
  readonly gone: ReadonlySet<string>;
  /** Those that are covered already, and are not gone, are passed over. */
  readonly added: readonly ChunkFooter[];
}

/** A chunk on its way into an index. */
interface Part {
  readonly summary: ChunkSummary;
  /** Where its presence points to. */
  readonly streams: readonly Stream[];
  readonly presence: ChunkPresence;
  readonly counts: StoredBlock;
}

/** Throws CorruptionError where a footer contradicts itself. */
export async function encodeIndex({ tenant, day, createdMs, chunks }: IndexInput): Promise<Buffer> {
  const parts = new Parts();
  await addFooters(parts, { tenant, day }, chunks);
  return assemble({ tenant, day, createdMs }, parts.list);
}

/** Throws what the old index's source throws, and CorruptionError. */
export async function extendIndex(old: DayIndex, { createdMs, gone, added }: IndexChange): Promise<Buffer> {
  const { tenant, day, streams } = old;
  const parts = new Parts();
  const kept = old.chunks.filter(({ id }) => !gone.has(id)).map(({ id }) => id);
  for await (const [id, counts] of old.storedCountsOf(kept)) {
    const { level, first, last, rows, lineBytes, metadataBytes, pageBytes } = old.summaryOf(id)!;
    const summary = { id, level, first, last, rows, lineBytes, metadataBytes, pageBytes };
    parts.add({ summary, streams, presence: old.presenceOf(id)!, counts });
    if (parts.list.length % CHUNKS_PER_TURN === 0) await nextTurn();
  }
  await addFooters(parts, { tenant, day }, added);
  return assemble({ tenant, day, createdMs }, parts.list);
}

async function addFooters(
  parts: Parts,
  { tenant, day }: Pick<IndexInput, 'tenant' | 'day'>,
  chunks: readonly ChunkFooter[],
): Promise<void> {
  const inOrder = [...chunks].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (let i = 0; i < inOrder.length; i++) {
    const { id, footer } = inOrder[i];
    invariant(
      footer.id === id && footer.tenant === tenant && footer.day === day,
      `footer of ${footer.tenant} day ${footer.day} in the index of ${tenant} day ${day}`,
    );
    if (!parts.has(id)) parts.add(await partOf(footer));
    if (i % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1) await nextTurn();
  }
}

async function partOf(footer: Footer): Promise<Part> {
  const { id, level, first, last, rows, lineBytes, metadataBytes } = footer;
  const presence = presenceOfFooter(footer);
  let pageBytes = 0;
  for (const page of footer.pages) pageBytes += page.storedBytes;
  const summary = { id, level, first, last, rows, lineBytes, metadataBytes, pageBytes };
  checkSums(summary, presence, footer);
  const counts = Array.from(presence.streams, s => footer.counts[s]);
  const raw = encodeCounts({ levels: footer.levels, counts });
  return { summary, streams: footer.streams, presence, counts: await storeBlock(raw, PUSH_COMPRESSION) };
}

/** What no reader of the index would believe must not be written: the chunk is broken, not the index. */
function checkSums(summary: ChunkSummary, presence: ChunkPresence, footer: Footer): void {
  const { id, first, last, rows, lineBytes, metadataBytes } = summary;
  let agrees =
    rows === sum(presence.entries) &&
    lineBytes === sum(presence.lineBytes) &&
    metadataBytes === sum(presence.metadataBytes) &&
    first === presence.first.reduce((a, b) => Math.min(a, b), Infinity) &&
    last === presence.last.reduce((a, b) => Math.max(a, b), 0);
  for (let i = 0; agrees && i < presence.streams.length; i++) {
    let counted = 0;
    for (const { entries } of footer.counts[presence.streams[i]]) counted += sum(entries);
    agrees = counted === presence.entries[i];
  }
  if (!agrees) throw new CorruptionError(`chunk ${id}: its runs and counts do not add up to its rows`);
}

function sum(values: Float64Array | readonly number[]): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

/** Chunks of an index that is being made, as many as its bounds allow. */
class Parts {
  readonly list: Part[] = [];
  private readonly ids = new Set<string>();
  private readonly streams = new Set<string>();
  private presences = 0;
  private streamBytes = 0;
  private countsBytes = 0;

  has(id: string): boolean {
    return this.ids.has(id);
  }

  /** Leaves the part out where it would not fit. */
  add(part: Part): void {
    const { streams, presence, counts, summary } = part;
    const fresh: string[] = [];
    let streamBytes = this.streamBytes;
    for (const s of presence.streams) {
      const { text } = streams[s];
      if (this.streams.has(text)) continue;
      fresh.push(text);
      streamBytes += Buffer.byteLength(text);
    }
    const fits =
      this.list.length < MAX_INDEX_CHUNKS &&
      this.presences + presence.streams.length <= MAX_INDEX_PRESENCES &&
      streamBytes <= MAX_INDEX_STREAM_BYTES &&
      this.countsBytes + counts.rawBytes <= MAX_INDEX_COUNTS_BYTES;
    if (!fits) return;
    this.list.push(part);
    this.ids.add(summary.id);
    for (const text of fresh) this.streams.add(text);
    this.presences += presence.streams.length;
    this.streamBytes = streamBytes;
    this.countsBytes += counts.rawBytes;
  }
}

async function assemble(head: Omit<IndexInput, 'chunks'>, parts: readonly Part[]): Promise<Buffer> {
  const inOrder = [...parts].sort((a, b) => (a.summary.id < b.summary.id ? -1 : 1));
  const streams = streamsOf(inOrder);
  const places = new Map(streams.map((stream, i) => [stream.text, i]));
  const presence = new ByteWriter(4096);
  const chunks: ChunkEntry[] = [];
  for (const part of inOrder) {
    const { summary, counts } = part;
    const before = presence.length;
    writePresence(presence, renumbered(part, places), summary.first);
    const presenceBytes = presence.length - before;
    chunks.push({ summary, streams: part.presence.streams.length, presenceBytes, counts });
    if (chunks.length % CHUNKS_PER_TURN === 0) await nextTurn();
  }
  const [streamsBlock, presenceBlock] = await Promise.all([
    storeBlock(encodeStreams(streams), PUSH_COMPRESSION),
    storeBlock(presence.finish(), PUSH_COMPRESSION),
  ]);
  const end = encodeDirectory({ ...head, streams: streamsBlock, presence: presenceBlock, chunks });
  return Buffer.concat([
    ...inOrder.map(({ counts }) => counts.bytes),
    streamsBlock.bytes,
    presenceBlock.bytes,
    end,
  ]);
}

function streamsOf(parts: readonly Part[]): Stream[] {
  const byText = new Map<string, Stream>();
  for (const { streams, presence } of parts) {
    for (const s of presence.streams) byText.set(streams[s].text, streams[s]);
  }
  return [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
}

/** Both lists ascend by text, so places ascend in the new one too. */
function renumbered({ streams, presence }: Part, places: ReadonlyMap<string, number>): ChunkPresence {
  return { ...presence, streams: presence.streams.map(s => places.get(streams[s].text)!) };
}
