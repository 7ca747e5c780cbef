/**
 * One object that a merge writes: it accepts batches, and passes each page on as soon as it is encoded. Two steps prove that
 * the object has the entries of its inputs before it replaces them (`compaction.preserves-entries`):
 *
 *     rows as read = rows to encode    hashes of both, from their bytes, when a batch is added
 *     bytes as encoded = bytes stored  checksums of all columns, and counts of the footer, when the object is read back
 *
 * Pages are not decoded for it. Tests show that a page decodes to the rows that were encoded.
 */

import { CorruptionError, invariant } from '../../base/model/errors.ts';
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
import { hasChecksums } from '../../storage/chunk/page-checksums.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import { type Fingerprint, FingerprintSum, type RowHasher, sameFingerprint } from './fingerprint.ts';

/** Asserted for every object before it is published, and for a merge as a whole. */
const PRESERVES_ENTRIES = 'compaction.preserves-entries';

interface MergeOutputOptions {
  readonly compression: Compression;
  readonly indexer?: ChunkIndexer | undefined;
  /** Raw bytes of the lines of a page. Default: PAGE_TARGET_BYTES. */
  readonly pageBytes?: number;
  readonly hasher: RowHasher;
  /** Start of the day of all rows, Unix ns. */
  readonly dayStartNs: bigint;
}

/** Called between pages that are read back. */
type YieldIfDue = (bytes: number, rows: number) => Promise<void>;

export class MergeOutput {
  readonly #id: string;
  readonly #writer: ObjectWriter;
  readonly #assembler: ChunkAssembler;
  readonly #hasher: RowHasher;
  readonly #dayStartNs: bigint;
  readonly #expected = new FingerprintSum();
  #adding: Promise<void> = Promise.resolve();

  /** @param id ID of the chunk @param writer the caller discards it */
  constructor(id: string, writer: ObjectWriter, options: MergeOutputOptions) {
    const { compression, indexer, pageBytes, hasher, dayStartNs } = options;
    this.#id = id;
    this.#writer = writer;
    this.#hasher = hasher;
    this.#dayStartNs = dayStartNs;
    const sink = (part: Uint8Array) => writer.write(part);
    this.#assembler = new ChunkAssembler(compression, indexer, pageBytes, undefined, sink);
  }

  /**
   * Starts to encode a batch. `packed` resolves when its memory is free. Throws the invariant
   * `compaction.preserves-entries`. @param sum fingerprint of the rows as read @param endsPage whether the rows that
   * follow, if any, begin a page
   */
  add(rows: ChunkRows, sum: Fingerprint, endsPage: boolean): void {
    const found = this.#hasher.fingerprintOf(rows, this.#dayStartNs);
    assertPreserved(sum, found, `rows of chunk ${this.#id}`);
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

  /** Returns the object, read back and compared. Throws CorruptionError, and the invariant `compaction.preserves-entries`. */
  async finish(head: Omit<ChunkHead, 'id'>, yieldIfDue: YieldIfDue): Promise<VerifiedChunk> {
    await this.#adding;
    const chunk = await this.#assembler.finish({ ...head, id: this.#id });
    // A copy: the record may keep the footer.
    for (const part of chunk.parts) await this.#writer.write(Buffer.from(part));
    const found = await readObject(chunk, this.#writer, yieldIfDue);
    const fingerprint = this.#expected.value;
    assertPreserved({ ...fingerprint, one: 0, two: 0 }, found, `chunk ${head.tenant}/${this.#id}`);
    return { chunk, fingerprint };
  }
}

export interface VerifiedChunk {
  readonly chunk: WrittenChunk;
  /** Fingerprint of its rows. Hashes of copied pages count as 0. */
  readonly fingerprint: Fingerprint;
}

export function assertPreserved(expected: Fingerprint, found: Fingerprint, what: string): void {
  const difference = JSON.stringify({ expected, found });
  invariant(sameFingerprint(expected, found), `${PRESERVES_ENTRIES}: ${what}: ${difference}`);
}

/**
 * Returns the counts of an object as it is stored, hashes 0. Throws CorruptionError if a column differs from its
 * checksum, and the invariant if parts of the footer differ.
 */
export async function readObject(
  { bytes, footerBytes }: Pick<WrittenChunk, 'bytes' | 'footerBytes'>,
  writer: Pick<ObjectWriter, 'read'>,
  yieldIfDue: YieldIfDue,
): Promise<Fingerprint> {
  const tail = await writer.read(bytes - footerBytes, bytes);
  const footer = decodeFooter(tail.subarray(0, tail.length - TRAILER_BYTES), 'the object just written');
  const sum = new FingerprintSum();
  let end = 0;
  for (const page of footer.pages) {
    invariant(page.offset === end, 'the pages of an object follow each other');
    end += page.storedBytes;
    const stored = await writer.read(page.offset, end);
    if (!hasChecksums(page, stored)) {
      throw new CorruptionError(
        `chunk ${footer.tenant}/${footer.id}: a page was not stored as it was written`,
      );
    }
    sum.add(unhashed(page));
    returnStoredBytes(stored);
    await yieldIfDue(page.storedBytes, 0);
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
