/**
 * One object that a merge makes: it takes batches, and gives the object away only after it was read back and found to
 * hold the entries that went in (`compaction.preserves-entries`). Reading back uses nothing but the object's bytes.
 */

import { invariant } from '../../base/model/errors.ts';
import { freeWhole } from '../../base/model/free-bytes.ts';
import { ChunkAssembler, type ChunkHead, type WrittenChunk } from '../../storage/chunk/chunk-assembler.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { decodeFooter } from '../../storage/chunk/footer-codec.ts';
import { type Footer, type PageMeta, TRAILER_BYTES } from '../../storage/chunk/format.ts';
import { decodePage } from '../../storage/chunk/reader.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import { type Fingerprint, FingerprintSum, type RowHasher, sameFingerprint } from './fingerprint.ts';

/** Asserted of every object before anybody sees it, and of a merge as a whole. */
export const PRESERVES_ENTRIES = 'compaction.preserves-entries';

export interface PageOptions {
  readonly enricher?: ChunkIndexer;
  /** Raw bytes of the lines of a page. */
  readonly pageBytes?: number;
}

export interface ReadBack {
  readonly hasher: RowHasher;
  /** Called between pages. */
  turn(lineBytes: number, rows: number): Promise<void>;
}

export class MergeOutput {
  readonly #id: string;
  readonly #assembler: ChunkAssembler;
  readonly #expected = new FingerprintSum();
  #adding: Promise<void> = Promise.resolve();

  /** @param id the chunk's own */
  constructor(id: string, compression: Compression, { enricher, pageBytes }: PageOptions) {
    this.#id = id;
    this.#assembler = new ChunkAssembler(compression, enricher, pageBytes);
  }

  /** Begins to pack a batch; `packed` tells when its memory is free. @param sum of its rows, as they were read */
  add(rows: ChunkRows, sum: Fingerprint): void {
    this.#expected.add(sum);
    this.#adding = this.#assembler.add(rows);
    // Whoever waits for it gets the error.
    this.#adding.catch(() => undefined);
  }

  /** Resolves when the last batch is packed; rejects where that failed. */
  packed(): Promise<void> {
    return this.#adding;
  }

  /** The object, read back and compared. Throws the invariant `compaction.preserves-entries`. */
  async finish(head: Omit<ChunkHead, 'id'>, readBack: ReadBack): Promise<VerifiedChunk> {
    await this.#adding;
    const chunk = await this.#assembler.finish({ ...head, id: this.#id });
    const found = await readObject(chunk, readBack);
    const expected = this.#expected.value;
    assertPreserved(expected, found, `chunk ${head.tenant}/${this.#id}`);
    return { chunk, fingerprint: found };
  }
}

export interface VerifiedChunk {
  readonly chunk: WrittenChunk;
  /** Of what was read back. */
  readonly fingerprint: Fingerprint;
}

export function assertPreserved(expected: Fingerprint, found: Fingerprint, what: string): void {
  const difference = JSON.stringify({ expected, found });
  invariant(sameFingerprint(expected, found), `${PRESERVES_ENTRIES}: ${what}: ${difference}`);
}

/**
 * The fingerprint of what the bytes of an object say, footer included. Throws CorruptionError.
 *
 * @param copied of each page whether it is one stored block whose bytes were verified where they came from: it counts with its
 * rows and bytes alone, hashes 0
 */
export async function readObject(
  { parts, footerBytes }: WrittenChunk,
  { hasher, turn }: ReadBack,
  copied: readonly boolean[] = [],
): Promise<Fingerprint> {
  const tail = Buffer.from(parts[parts.length - 1]);
  invariant(tail.length === footerBytes, 'the last part of an object is its footer');
  const footer = decodeFooter(tail.subarray(0, tail.length - TRAILER_BYTES), 'the object just written');
  const sum = new FingerprintSum();
  for (const [place, page] of footer.pages.entries()) {
    const part = parts[place];
    invariant(part.length === page.storedBytes, 'a page is one part of its object');
    if (copied[place] === true) {
      sum.add(unhashed(page));
      continue;
    }
    const stored = Buffer.from(part.buffer, part.byteOffset, part.length);
    const wants = { lines: 'bytes', metadata: 'all' } as const;
    const rows = decodePage(footer, page, stored, wants, `chunk ${footer.tenant}/${footer.id}`);
    const hashes = hasher.hash(rows);
    sum.addPage(rows, hashes);
    // Left to the collector, the columns of the whole object would lie there.
    const { times, lineOffsets } = rows;
    for (const column of [times, lineOffsets, hashes.one, hashes.two, hashes.metadataBytes])
      freeWhole(column);
    await turn(page.lineBytes, page.rows);
  }
  checkTotals(footer, sum.value);
  return sum.value;
}

/** What the footer tells of a page. */
export function unhashed({ rows, lineBytes, runs }: PageMeta): Fingerprint {
  const metadataBytes = runs.reduce((sum, run) => sum + run.metadataBytes, 0);
  return { rows, lineBytes, metadataBytes, one: 0, two: 0 };
}

/** What the footer says of the whole, and its counts, against the rows. */
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
