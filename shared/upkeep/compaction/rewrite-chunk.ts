/**
 * Rewrites one chunk without some of its rows. A page is decoded only if a row of it may be removed, and
 * encoded again only if one is. All other pages are copied as stored, with their field columns and their part
 * of the text index.
 *
 * Verified before the result is published: checksums of every copied column; that encoded pages read back as
 * the rows that stay; that rows and bytes that stay and are removed are those of the source, in total and in
 * the counts. If the counts of the source are inconsistent, that is a CorruptionError. A merge of the chunk
 * alone, which counts again, may still succeed.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import type { PatchIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { ChunkPatcher, type PatchedChunk } from '../../storage/chunk/chunk-patcher.ts';
import { type CountedRows, CountPatch } from '../../storage/chunk/count-patch.ts';
import { minuteOf } from '../../storage/chunk/counts.ts';
import { type Footer, LEVEL_NAME, type PageMeta } from '../../storage/chunk/format.ts';
import { decodePage } from '../../storage/chunk/reader.ts';
import { COMPACTION_COMPRESSION } from '../../storage/codec/compression.ts';
import { type Fingerprint, FingerprintSum, RowHasher } from './fingerprint.ts';
import { MergeBatch } from './merge-batch.ts';
import { BATCH_BYTES } from './merge-bounds.ts';
import type { OpenPage } from './merge-cursor.ts';
import { assertPreserved, readObject, unhashed } from './merge-output.ts';
import { type MergeInput, PageReader } from './merge-reader.ts';

interface RewriteInput extends MergeInput {
  readonly footer: Footer;
}

interface RewriteOptions {
  /** ID of the new chunk. */
  readonly id: string;
  /** Unix ms. */
  readonly createdMs: number;
  readonly enricher: PatchIndexer | undefined;
  readonly pageBytes: number;
  /** False: no row of such a stream is removed. */
  mayTouch(stream: Stream): boolean;
  /** Returns 1 for each row to remove, or undefined if all rows stay. */
  dropRows(page: PageRows): Uint8Array | undefined;
  /** Called between pages. */
  pause(): Promise<void>;
}

export interface Rewritten {
  /** Undefined if no row stays. */
  readonly chunk: PatchedChunk | undefined;
  readonly dropped: number;
}

/** Maximum size of one read. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

/** Throws CorruptionError, and what `read`, `dropRows` and `pause` throw. */
export async function rewriteChunk(input: RewriteInput, options: RewriteOptions): Promise<Rewritten> {
  return new Rewrite(input, options).run();
}

class Rewrite {
  readonly #input: RewriteInput;
  readonly #options: RewriteOptions;
  readonly #name: string;
  readonly #patcher: ChunkPatcher;
  readonly #counts: CountPatch;
  readonly #hasher = new RowHasher();
  readonly #batch = new MergeBatch(BATCH_BYTES);
  readonly #kept = new FingerprintSum();
  readonly #gone = new FingerprintSum();

  constructor(input: RewriteInput, options: RewriteOptions) {
    const { footer } = input;
    const { enricher, pageBytes } = options;
    this.#input = input;
    this.#options = options;
    this.#name = `chunk ${footer.tenant}/${footer.id}`;
    const compression = COMPACTION_COMPRESSION;
    this.#patcher = new ChunkPatcher({ source: footer, compression, enricher, pageBytes });
    this.#counts = new CountPatch(footer, this.#name);
  }

  async run(): Promise<Rewritten> {
    const { footer } = this.#input;
    const { mayTouch, pause } = this.#options;
    const touched = footer.streams.map(stream => mayTouch(stream));
    const reader = new PageReader(this.#input, MAX_READ_BYTES);
    for (let place = 0; place < footer.pages.length; place++) {
      const next = await reader.nextPage();
      if (next === undefined) throw this.#broken(`${place} of ${footer.pages.length} pages`);
      await this.#takePage(place, next.stored, touched);
      await pause();
    }
    this.#checkTotals();
    const dropped = this.#gone.value.rows;
    if (dropped === footer.rows) return { chunk: undefined, dropped };
    return { chunk: await this.#finish(), dropped };
  }

  async #takePage(place: number, stored: Buffer, touched: readonly boolean[]): Promise<void> {
    const { footer } = this.#input;
    const page = footer.pages[place];
    const isWanted = this.#patcher.wants(page);
    if (isWanted || page.runs.some(({ stream }) => touched[stream])) {
      const wants = { lines: 'bytes', metadata: 'all' } as const;
      const rows = decodePage(footer, page, stored, wants, this.#name);
      const dropped = this.#options.dropRows(rows);
      if (isWanted || dropped !== undefined) return this.#packRows(page, rows, dropped);
    }
    checkColumns(page, stored, this.#name);
    this.#kept.add(unhashed(page));
    await this.#patcher.copy(place, stored);
  }

  async #packRows(page: PageMeta, rows: PageRows, dropped: Uint8Array | undefined): Promise<void> {
    const batch = this.#batch;
    const hashes = this.#hasher.hash(rows);
    const open: OpenPage = { ...ownFields(rows), base: page.base, hashes, dropped };
    if (dropped !== undefined) this.#takeFromCounts(page, open, dropped);
    batch.clear();
    for (const { stream, firstRow, rows: ofRun } of page.runs) {
      for (let row = firstRow; row < firstRow + ofRun; row++) {
        if (dropped?.[row] === 1) continue;
        batch.lay(open, row, stream, page.base + rows.times[row]);
        batch.keep(open, row, this.#input.footer.streams);
      }
    }
    if (batch.rows === 0) return;
    this.#kept.add(batch.sum.value);
    await this.#patcher.add(batch.toRows());
  }

  /** Subtracts consecutive rows of one level and minute together. */
  #takeFromCounts({ runs }: PageMeta, page: OpenPage, dropped: Uint8Array): void {
    const counts = this.#counts;
    const gone = this.#gone;
    const { hashes, lineOffsets, times, base } = page;
    const column = page.metadata.find(({ name }) => name === LEVEL_NAME);
    const levels = Array.from({ length: (column?.count ?? 0) + 1 }, (_, id) =>
      counts.levelOf(id === 0 ? '' : column!.valueAt(id - 1)),
    );
    for (const { stream, firstRow, rows } of runs) {
      let group: CountedRows | undefined;
      for (let row = firstRow; row < firstRow + rows; row++) {
        if (dropped[row] === 0) continue;
        const level = levels[column === undefined ? 0 : column.ids[row]];
        const minute = minuteOf(base + times[row]);
        if (group?.level !== level || group.minute !== minute) {
          if (group !== undefined) counts.take(group);
          group = { stream, level, minute, entries: 0, lineBytes: 0, metadataBytes: 0 };
        }
        const lineBytes = lineOffsets[row + 1] - lineOffsets[row];
        group.entries++;
        group.lineBytes += lineBytes;
        group.metadataBytes += hashes.metadataBytes[row];
        gone.addRow(hashes, row, lineBytes);
      }
      if (group !== undefined) counts.take(group);
    }
  }

  /** Checks that rows that stay and rows that are removed add up to those of the source. */
  #checkTotals(): void {
    const { footer } = this.#input;
    const [kept, gone] = [this.#kept.value, this.#gone.value];
    for (const field of ['rows', 'lineBytes', 'metadataBytes'] as const) {
      const found = kept[field] + gone[field];
      if (found !== footer[field]) throw this.#broken(`${field} ${found} of ${footer[field]}`);
    }
  }

  async #finish(): Promise<PatchedChunk> {
    const { tenant, day, level, id, origin } = this.#input.footer;
    const { createdMs, pause } = this.#options;
    const head = { id: this.#options.id, tenant, day, level, createdMs, inputs: [id], origin };
    const chunk = await this.#patcher.finish(head, this.#counts.finish());
    const found = await readObject(chunk, { hasher: this.#hasher, yieldIfDue: pause }, chunk.copied);
    assertPreserved(this.#kept.value as Fingerprint, found, `chunk ${tenant}/${head.id}`);
    return chunk;
  }

  #broken(what: string): CorruptionError {
    return new CorruptionError(`${this.#name}: ${what}`);
  }
}

/** Copies the columns that are used. The getters of a stored page are not own properties. */
function ownFields(page: PageRows): PageRows {
  const { rows, baseNs, runs, times, lineOffsets, lines, metadata } = page;
  return { rows, baseNs, runs, times, lineOffsets, lines, metadata };
}

/** Throws CorruptionError if a column differs from what was written. */
function checkColumns({ offset, columns }: PageMeta, stored: Buffer, name: string): void {
  for (const { kind, place } of columns) {
    const crc = crc32(stored.subarray(place.offset, place.offset + place.storedBytes));
    if (place.storedBytes > 0 && crc !== place.crc) {
      throw new CorruptionError(`${name}: checksum ${crc} of column kind ${kind} of the page at ${offset}`);
    }
  }
}
