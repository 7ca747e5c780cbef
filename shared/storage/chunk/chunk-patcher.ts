/**
 * Builds a chunk object from another one without some of its rows. Pages that lose no rows are copied in
 * stored form. The remaining rows of other pages are compressed again.
 *
 *     source pages   A        B (loses rows)   C        D (loses all)   E
 *     object         A copy   B' packed        C copy                   E copy
 *
 * A copied page depends only on the numbers of its streams and on its offset, and the footer contains those.
 * All other data excludes the lost rows. Compressed pages have new columns. Tables of the footer omit
 * streams, levels and minutes without remaining rows.
 */
import { invariant } from '../../base/model/errors.ts';
import { atOnce } from '../../base/model/steps.ts';
import { type Compression, storeRaw } from '../codec/compression.ts';
import type { ChunkHead, WrittenChunk } from './chunk-assembler.ts';
import type { PatchIndexer } from './chunk-indexer.ts';
import type { PatchedCounts } from './count-patch.ts';
import { encodeFooter } from './footer-codec.ts';
import { type Footer, type PageMeta, type RunMeta, type SectionMeta, versionOf } from './format.ts';
import { joinRows } from './join-rows.ts';
import { cutPages } from './page-cutter.ts';
import { packPage } from './page-writer.ts';
import type { ChunkRows } from './rows.ts';

interface PatchParts {
  readonly source: Pick<Footer, 'streams' | 'pages'>;
  readonly compression: Compression;
  /** Indexer of the new object; undefined if the object has neither a text index nor field columns. */
  readonly enricher: PatchIndexer | undefined;
  /** Raw bytes of the lines of a page. */
  readonly pageBytes: number;
}

export interface PatchedChunk extends WrittenChunk {
  /** Whether each page of the footer was copied. */
  readonly copied: readonly boolean[];
}

/**
 * Minimum share of a typical page. Smaller remainders are compressed together with the rows of the next page,
 * if both fit into one.
 */
const CRUMB_SHARE = 1 / 16;

export class ChunkPatcher {
  readonly #parts: PatchParts;
  readonly #placeOf: ReadonlyMap<string, number>;
  /** Pages; their runs have the source's stream numbers. */
  readonly #pages: PageMeta[] = [];
  readonly #copied: boolean[] = [];
  /** Bytes of the object: one element per page, sections, the footer. */
  readonly #bytesOf: Uint8Array[] = [];
  #open: ChunkRows | undefined;
  #openBytes = 0;
  #bytes = 0;

  constructor(parts: PatchParts) {
    this.#parts = parts;
    this.#placeOf = new Map(parts.source.streams.map(({ text }, place) => [text, place]));
  }

  /** Returns whether the open page has so few rows that the next page should be added by its rows. */
  wants({ lineBytes }: PageMeta): boolean {
    const { pageBytes } = this.#parts;
    return (
      this.#open !== undefined &&
      this.#openBytes < pageBytes * CRUMB_SHARE &&
      this.#openBytes + lineBytes <= pageBytes
    );
  }

  /**
   * Copies the source's page at this index.
   * @param stored Its bytes, which must not change
   */
  async copy(place: number, stored: Uint8Array): Promise<void> {
    await this.#packOpen();
    const page = this.#parts.source.pages[place];
    invariant(stored.length === page.storedBytes, 'a page is copied whole');
    this.#parts.enricher?.copied(place, page.lineBytes);
    this.#place(page, stored, true);
  }

  /** Adds the remaining rows of the source's next page, at least one. The rows are copied. */
  async add(rows: ChunkRows): Promise<void> {
    const all = { from: 0, to: rows.rows };
    const open = this.#open;
    const joined = joinRows(
      open === undefined
        ? [{ rows, ...all }]
        : [
            { rows: open, from: 0, to: open.rows },
            { rows, ...all },
          ],
    );
    let from = 0;
    for (const cut of atOnce(cutPages(joined, undefined, this.#parts.pageBytes))) {
      await this.#pack(joined, from, cut);
      from = cut;
    }
    this.#open = from === 0 ? joined : joinRows([{ rows: joined, from, to: joined.rows }]);
    this.#openBytes = this.#open.lineEnd[this.#open.rows - 1];
  }

  /**
   * Ends the object. At least one row must have been added.
   * @param counts Remaining counts
   */
  async finish(head: ChunkHead, { levels, counts }: PatchedCounts): Promise<PatchedChunk> {
    await this.#packOpen();
    const bytesOf = this.#bytesOf;
    const parts = this.#parts;
    const copied = this.#copied;
    const runs = this.#pages.flatMap(page => page.runs);
    invariant(runs.length > 0, 'a chunk has at least one row');
    const left = [...new Set(runs.map(({ stream }) => stream))].sort((a, b) => a - b);
    const placeLeft = new Map(left.map((stream, place) => [stream, place]));
    const renumbered = (run: RunMeta) => ({ ...run, stream: placeLeft.get(run.stream)! });
    const pages = this.#pages.map(page => ({ ...page, runs: page.runs.map(renumbered) }));
    const sections = this.#addSections();
    const total = { rows: 0, lineBytes: 0, metadataBytes: 0, first: Infinity, last: 0 };
    for (const run of runs) {
      total.rows += run.rows;
      total.lineBytes += run.lineBytes;
      total.metadataBytes += run.metadataBytes;
      total.first = Math.min(total.first, run.first);
      total.last = Math.max(total.last, run.last);
    }
    const footer: Footer = {
      version: versionOf(pages),
      ...head,
      origin: head.origin ?? head.id,
      ...total,
      streams: left.map(stream => parts.source.streams[stream]),
      pages,
      levels,
      counts: left.map(stream => counts[stream]),
      sections,
    };
    const tail = encodeFooter(footer);
    bytesOf.push(tail);
    return { footer, parts: bytesOf, bytes: this.#bytes + tail.length, footerBytes: tail.length, copied };
  }

  async #packOpen(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) await this.#pack(open, 0, open.rows);
  }

  async #pack(rows: ChunkRows, from: number, to: number): Promise<void> {
    const { compression, enricher } = this.#parts;
    const { meta, bytes } = await packPage(rows, from, to, compression, enricher);
    const ofSource = (run: RunMeta) => ({
      ...run,
      stream: this.#placeOf.get(rows.streams[run.stream].text)!,
    });
    this.#place({ ...meta, runs: meta.runs.map(ofSource) }, bytes, false);
  }

  #place(page: PageMeta, bytes: Uint8Array, isCopied: boolean): void {
    this.#pages.push({ ...page, offset: this.#bytes });
    this.#copied.push(isCopied);
    this.#bytesOf.push(bytes);
    this.#bytes += page.storedBytes;
  }

  #addSections(): SectionMeta[] {
    const extras = this.#parts.enricher?.finish() ?? [];
    return extras.map(({ kind, bytes: section }) => {
      const { bytes, rawBytes, codec, crc } = storeRaw(section);
      const place = { offset: this.#bytes, storedBytes: bytes.length, rawBytes, codec, crc };
      this.#bytesOf.push(bytes);
      this.#bytes += bytes.length;
      return { kind, place };
    });
  }
}
