/** Collects chunks for an index, from footers or from an older index, within the limits of an index. */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { countsOf, type Footer, LEVEL_NAME, type LevelCounts } from '../chunk/format.ts';
import { mayRepeatItself } from '../chunk/metadata-column.ts';
import { metadataOf } from '../chunk/stored-page.ts';
import { CODEC_RAW, QUICK_COMPRESSION, type StoredBlock, storeBlock } from '../codec/compression.ts';
import { encodeCounts } from './counts-block.ts';
import type { ChunkPresence, ChunkSummary, IndexBounds } from './format.ts';
import { presenceOfFooter } from './presence.ts';

/**
 * Minimum size to compress; smaller counts are stored raw. A push of 20 streams has 200 bytes of counts. For
 * 10,000 such blocks, zstd contexts and the garbage collections they cause took most of the time of building
 * an index.
 */
const MIN_PACKED_COUNTS_BYTES = 1024;

/** Chunk to be added to an index. */
export interface Part {
  readonly summary: ChunkSummary;
  /** Streams to which its presence refers. */
  readonly streams: readonly Stream[];
  readonly presence: ChunkPresence;
  readonly counts: StoredBlock;
}

/** Returns the part of a footer. Throws CorruptionError if the footer contradicts itself. */
export async function partOf(footer: Footer): Promise<Part> {
  const { id, level, first, last, rows, lineBytes, metadataBytes } = footer;
  const presence = presenceOfFooter(footer);
  let pageBytes = 0;
  for (const page of footer.pages) pageBytes += page.storedBytes;
  const metadataNames = metadataNamesOf(footer);
  const summary = { id, level, first, last, rows, lineBytes, metadataBytes, pageBytes, metadataNames };
  const counts = Array.from(presence.streams, s => countsOf(footer, s));
  checkSums(summary, presence, counts);
  const stored = await storeCounts(encodeCounts({ levels: footer.levels, counts }));
  return { summary, streams: footer.streams, presence, counts: stored };
}

/** See ChunkSummary. */
function metadataNamesOf({ pages }: Footer): string[] | undefined {
  const names = new Set<string>();
  for (const page of pages) {
    if (mayRepeatItself(page)) return undefined;
    for (const { name } of metadataOf(page)) if (name !== LEVEL_NAME) names.add(name);
  }
  return [...names].sort();
}

async function storeCounts(raw: Buffer): Promise<StoredBlock> {
  if (raw.length >= MIN_PACKED_COUNTS_BYTES) return storeBlock(raw, QUICK_COMPRESSION);
  return { codec: CODEC_RAW, rawBytes: raw.length, crc: crc32(raw), bytes: raw };
}

/**
 * Checks sums before writing: a contradiction that every reader would reject means that the chunk is corrupt,
 * not the index.
 */
function checkSums(
  summary: ChunkSummary,
  presence: ChunkPresence,
  counts: readonly (readonly LevelCounts[])[],
): void {
  const { id, first, last, rows, lineBytes, metadataBytes } = summary;
  let agrees =
    rows === sum(presence.entries) &&
    lineBytes === sum(presence.lineBytes) &&
    metadataBytes === sum(presence.metadataBytes) &&
    first === presence.first.reduce((a, b) => Math.min(a, b), Infinity) &&
    last === presence.last.reduce((a, b) => Math.max(a, b), 0);
  for (let i = 0; agrees && i < presence.streams.length; i++) {
    let counted = 0;
    for (const { entries } of counts[i]) counted += sum(entries);
    agrees = counted === presence.entries[i];
  }
  if (!agrees) throw new CorruptionError(`chunk ${id}: its runs and counts do not add up to its rows`);
}

function sum(values: Float64Array | readonly number[]): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

/** Chunks of an index under construction, within its limits. */
export class IndexParts {
  readonly list: Part[] = [];
  readonly #ids = new Set<string>();
  readonly #streams = new Set<string>();
  #presences = 0;
  #streamBytes = 0;
  #countsBytes = 0;
  readonly #bounds: IndexBounds;

  constructor(bounds: IndexBounds) {
    this.#bounds = bounds;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Adds a part, unless it would exceed the limits. */
  add(part: Part): void {
    const { streams, presence, counts, summary } = part;
    const fresh: string[] = [];
    let streamBytes = this.#streamBytes;
    for (const s of presence.streams) {
      const { text } = streams[s];
      if (this.#streams.has(text)) continue;
      fresh.push(text);
      streamBytes += Buffer.byteLength(text);
    }
    const { maxChunks, maxPresences, maxStreamBytes, maxCountsBytes } = this.#bounds;
    const fits =
      this.list.length < maxChunks &&
      this.#presences + presence.streams.length <= maxPresences &&
      streamBytes <= maxStreamBytes &&
      this.#countsBytes + counts.rawBytes <= maxCountsBytes;
    if (!fits) return;
    this.list.push(part);
    this.#ids.add(summary.id);
    for (const text of fresh) this.#streams.add(text);
    this.#presences += presence.streams.length;
    this.#streamBytes = streamBytes;
    this.#countsBytes += counts.rawBytes;
  }
}
