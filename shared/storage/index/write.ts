/**
 * Writes index objects. The input is the footers of chunks, or an older index with the removed chunks and the
 * footers of new ones. Both ways yield the same bytes for the same chunks, so a sync reads only new footers.
 *
 * Pitfall: chunks beyond the limits in format.ts are omitted without an error, because a partial index is
 * valid. Use DayIndex.covers to check.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { invariant } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Footer } from '../chunk/format.ts';
import { ByteWriter } from '../codec/byte-io.ts';
import { QUICK_COMPRESSION, storeBlock } from '../codec/compression.ts';
import type { DayIndex } from './day-index.ts';
import { type ChunkEntry, encodeDirectory } from './directory.ts';
import { type ChunkPresence, INDEX_BOUNDS, type IndexBounds } from './format.ts';
import { IndexParts, type Part, partOf } from './parts.ts';
import { writePresence } from './presence.ts';
import { encodeStreams } from './stream-list.ts';

/** Number of chunks to compress or copy before yielding; a small one takes 30 µs. */
const CHUNKS_PER_SLICE = 64;

export interface ChunkFooter {
  /** ID of 32 hex digits, equal to the footer's. */
  readonly id: string;
  readonly footer: Footer;
}

interface IndexInput {
  readonly tenant: string;
  readonly day: number;
  /** Unix ms. */
  readonly createdMs: number;
  readonly chunks: readonly ChunkFooter[];
  readonly bounds?: IndexBounds;
}

interface IndexChange {
  /** Unix ms. */
  readonly createdMs: number;
  /** IDs of chunks to remove. */
  readonly gone: ReadonlySet<string>;
  /** Chunks to add. Chunks that are already covered and not removed are skipped. */
  readonly added: readonly ChunkFooter[];
  readonly bounds?: IndexBounds;
}

/** Encodes an index from footers. Throws CorruptionError if a footer contradicts itself. */
export async function encodeIndex(input: IndexInput): Promise<Buffer> {
  const { tenant, day, createdMs, chunks, bounds = INDEX_BOUNDS } = input;
  const parts = new IndexParts(bounds);
  await addFooters(parts, { tenant, day }, chunks);
  return assemble({ tenant, day, createdMs }, parts.list);
}

/**
 * Encodes an index from an older one and a change. Throws errors of the old index's source, and
 * CorruptionError.
 */
export async function extendIndex(old: DayIndex, change: IndexChange): Promise<Buffer> {
  const { createdMs, gone, added, bounds = INDEX_BOUNDS } = change;
  const { tenant, day, streams } = old;
  const parts = new IndexParts(bounds);
  const kept = old.chunks.filter(({ id }) => !gone.has(id)).map(({ id }) => id);
  for await (const [id, counts] of old.storedCountsOf(kept)) {
    parts.add({ summary: old.summaryOf(id)!, streams, presence: old.presenceOf(id)!, counts });
    if (parts.list.length % CHUNKS_PER_SLICE === 0) await nextRound();
  }
  await addFooters(parts, { tenant, day }, added);
  return assemble({ tenant, day, createdMs }, parts.list);
}

async function addFooters(
  parts: IndexParts,
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
    if (i % CHUNKS_PER_SLICE === CHUNKS_PER_SLICE - 1) await nextRound();
  }
}

async function assemble(
  head: Pick<IndexInput, 'tenant' | 'day' | 'createdMs'>,
  parts: readonly Part[],
): Promise<Buffer> {
  const inOrder = [...parts].sort((a, b) => (a.summary.id < b.summary.id ? -1 : 1));
  const streams = streamsOf(inOrder);
  const indexOf = new Map(streams.map((stream, i) => [stream.text, i]));
  const presence = new ByteWriter(4096);
  const chunks: ChunkEntry[] = [];
  for (const part of inOrder) {
    const { summary, counts } = part;
    const before = presence.length;
    writePresence(presence, renumbered(part, indexOf), summary.first);
    const presenceBytes = presence.length - before;
    chunks.push({ summary, streams: part.presence.streams.length, presenceBytes, counts });
    if (chunks.length % CHUNKS_PER_SLICE === 0) await nextRound();
  }
  const [streamsBlock, presenceBlock] = await Promise.all([
    storeBlock(encodeStreams(streams), QUICK_COMPRESSION),
    storeBlock(presence.finish(), QUICK_COMPRESSION),
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

/** Both lists ascend by text, so the new indexes ascend too. */
function renumbered({ streams, presence }: Part, indexOf: ReadonlyMap<string, number>): ChunkPresence {
  return { ...presence, streams: presence.streams.map(s => indexOf.get(streams[s].text)!) };
}
