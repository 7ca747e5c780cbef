/**
 * One object that a merge writes: it accepts batches, and passes each page on as soon as it is encoded. It
 * returns the object only after it was read back and contains the entries that were added
 * (`compaction.preserves-entries`). Reading back uses only the object's bytes.
 */

import { invariant } from '../../base/model/errors.ts';
import { freeWhole } from '../../base/model/free-bytes.ts';
import type { Stream } from '../../base/model/page.ts';
import { returnStoredBytes } from '../../base/model/stored-bytes.ts';
import type { ObjectWriter } from '../../base/ports/object-store.ts';
import {
  ChunkAssembler,
  type ChunkHead,
  type CopiedPage,
  type WrittenChunk,
} from '../../storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { decodeFooter } from '../../storage/chunk/footer-codec.ts';
import { type Footer, type LevelCounts, type PageMeta, TRAILER_BYTES } from '../../storage/chunk/format.ts';
import { decodePage } from '../../storage/chunk/reader.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import {
  type Fingerprint,
  FingerprintSum,
  type RowHasher,
  releaseHashes,
  sameFingerprint,
} from './fingerprint.ts';

/** Asserted for every object before it is published, and for a merge as a whole. */
const PRESERVES_ENTRIES = 'compaction.preserves-entries';

interface MergedPageOptions {
  readonly indexer?: ChunkIndexer;
  /** Raw bytes of the lines of a page. */
  readonly pageBytes?: number;
}

interface ReadBack {
  readonly hasher: RowHasher;
  /** Called between pages. */
  yieldIfDue(lineBytes: number, rows: number): Promise<void>;
}

export class MergeOutput {
  readonly #id: string;
  readonly #writer: ObjectWriter;
  readonly #assembler: ChunkAssembler;
  readonly #expected = new FingerprintSum();
  #adding: Promise<void> = Promise.resolve();

  /** @param id ID of the chunk @param writer the caller discards it */
  constructor(
    id: string,
    writer: ObjectWriter,
    compression: Compression,
    { indexer, pageBytes }: MergedPageOptions,
  ) {
    this.#id = id;
    this.#writer = writer;
    const sink = (part: Uint8Array) => writer.write(part);
    this.#assembler = new ChunkAssembler(compression, indexer, pageBytes, undefined, sink);
  }

  /**
   * Starts to encode a batch. `packed` resolves when its memory is free. @param sum fingerprint of the rows
   * as read @param endsPage whether the rows that follow, if any, begin a page
   */
  add(rows: ChunkRows, sum: Fingerprint, endsPage: boolean): void {
    this.#expected.add(sum);
    this.#adding = this.#assembler.add(rows, { last: endsPage });
    // The caller that waits for it gets the error.
    this.#adding.catch(() => undefined);
  }

  /** Adds a page of an input as it is stored. Resolves when the chunk has it. */
  async copy(page: CopiedPage): Promise<void> {
    await this.#adding;
    this.#expected.add(unhashed(page.page));
    await this.#assembler.copy(page);
  }

  /** Counts rows of copied pages. @param levels names of the levels */
  addCounts(stream: Stream, levels: readonly string[], counts: readonly LevelCounts[]): void {
    this.#assembler.addCounts(stream, levels, counts);
  }

  /** Resolves when the last batch is encoded. Rejects if that failed. */
  packed(): Promise<void> {
    return this.#adding;
  }

  /** Returns the object, read back and compared. Throws the invariant `compaction.preserves-entries`. */
  async finish(head: Omit<ChunkHead, 'id'>, readBack: ReadBack): Promise<VerifiedChunk> {
    await this.#adding;
    const chunk = await this.#assembler.finish({ ...head, id: this.#id });
    // A copy: the record may keep the footer.
    for (const part of chunk.parts) await this.#writer.write(Buffer.from(part));
    const found = await readObject(chunk, this.#writer, readBack);
    const expected = this.#expected.value;
    assertPreserved(expected, found, `chunk ${head.tenant}/${this.#id}`);
    return { chunk, fingerprint: found };
  }
}

export interface VerifiedChunk {
  readonly chunk: WrittenChunk;
  /** Fingerprint of what was read back. */
  readonly fingerprint: Fingerprint;
}

export function assertPreserved(expected: Fingerprint, found: Fingerprint, what: string): void {
  const difference = JSON.stringify({ expected, found });
  invariant(sameFingerprint(expected, found), `${PRESERVES_ENTRIES}: ${what}: ${difference}`);
}

/**
 * Returns the fingerprint of what the bytes of an object contain, footer included. Throws CorruptionError. A
 * copied page, whose checksums were verified, counts with its rows and bytes only, hashes 0.
 */
export async function readObject(
  { copied, bytes, footerBytes }: Pick<WrittenChunk, 'copied' | 'bytes' | 'footerBytes'>,
  writer: Pick<ObjectWriter, 'read'>,
  { hasher, yieldIfDue }: ReadBack,
): Promise<Fingerprint> {
  const tail = await writer.read(bytes - footerBytes, bytes);
  const footer = decodeFooter(tail.subarray(0, tail.length - TRAILER_BYTES), 'the object just written');
  const sum = new FingerprintSum();
  let end = 0;
  for (const [index, page] of footer.pages.entries()) {
    invariant(page.offset === end, 'the pages of an object follow each other');
    end += page.storedBytes;
    if (copied[index]) {
      sum.add(unhashed(page));
      continue;
    }
    const stored = await writer.read(page.offset, end);
    const wants = { lines: 'bytes', metadata: 'all' } as const;
    const rows = decodePage(footer, page, stored, wants, `chunk ${footer.tenant}/${footer.id}`);
    const hashes = hasher.hash(rows);
    sum.addPage(rows, hashes);
    // If left to the garbage collector, the columns of the whole object would stay in memory.
    const { times, lineOffsets } = rows;
    for (const column of [times, lineOffsets]) freeWhole(column);
    releaseHashes(hashes);
    returnStoredBytes(stored);
    await yieldIfDue(page.lineBytes, page.rows);
  }
  checkTotals(footer, sum.value);
  return sum.value;
}

/** Returns the counts that the footer has for a page. */
export function unhashed({ rows, lineBytes, runs }: PageMeta): Fingerprint {
  const metadataBytes = runs.reduce((sum, run) => sum + run.metadataBytes, 0);
  return { rows, lineBytes, metadataBytes, one: 0, two: 0 };
}

/** Compares the totals and counts of the footer with the rows. */
function checkTotals(footer: Footer, found: Fingerprint): void {
  const { rows, lineBytes, metadataBytes } = found;
  const counted = { rows: 0, lineBytes: 0, metadataBytes: 0 };
  for (const ofStream of footer.counts) {
    for (const level of ofStream) {
      for (let i = 0; i < level.minutes.length; i++) {
        counted.rows += level.entries[i];
        counted.lineBytes += level.lineBytes[i];
        counted.metadataBytes += level.metadataBytes[i];
      }
    }
  }
  for (const said of [footer, counted]) {
    invariant(
      said.rows === rows && said.lineBytes === lineBytes && said.metadataBytes === metadataBytes,
      `${PRESERVES_ENTRIES}: the footer of ${footer.id} says ${said.rows} rows, ${said.lineBytes} and ${said.metadataBytes} bytes; ${rows}, ${lineBytes} and ${metadataBytes} are there`,
    );
  }
}
