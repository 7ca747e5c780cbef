/**
 * Builds a chunk object from batches of sorted rows, so that a merge of any size holds one batch in memory
 * and not all rows. Page boundaries do not depend on the batches: the next batch continues the page that a
 * batch leaves open. With a sink, stored bytes do not stay in memory either.
 *
 * Pitfall: `add` copies the rows of the open page, so that the batch may be reused afterward. `last` saves
 * that copy if no further rows follow, or if they begin a page.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { invariant } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { atOnce, type Pace, runPaced, type Steps } from '../../base/model/steps.ts';
import { type Compression, storeRaw } from '../codec/compression.ts';
import type { ChunkIndexer, PageCopy } from './chunk-indexer.ts';
import { ChunkStreams } from './chunk-streams.ts';
import { RowCounter } from './counts.ts';
import { encodeFooterInSteps } from './footer-codec.ts';
import {
  type Footer,
  type LevelCounts,
  PAGE_TARGET_BYTES,
  type PageMeta,
  type SectionMeta,
  versionOf,
} from './format.ts';
import { joinRows, type RowSlice, releaseJoined } from './join-rows.ts';
import { cutPages } from './page-cutter.ts';
import { handled, type PackedPage, type PackOptions, packPage } from './page-writer.ts';
import type { ChunkRows } from './rows.ts';
import { withDecodedColumns } from './stored-page.ts';

/**
 * Number of pages compressed in parallel, equal to the default number of threads in the pool. Each holds up
 * to 1 MiB of lines.
 */
const PAGES_AT_ONCE = 4;

export interface ChunkHead {
  /** Chunk ID, 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly day: number;
  readonly level: number;
  readonly createdMs: number;
  readonly inputs: readonly string[];
  /** Origin; see Footer. Default: the ID. */
  readonly origin?: string;
}

export interface WrittenChunk {
  readonly footer: Footer;
  /** Bytes of the object, in order: one part per page, sections, the footer. With a sink, only the footer. */
  readonly parts: readonly Uint8Array[];
  /** Whether each page was copied from another chunk. */
  readonly copied: readonly boolean[];
  readonly bytes: number;
  /** Size of footer and trailer, the last part. */
  readonly footerBytes: number;
  /** Lines of the pages for which `add` kept them, in order. Release them (page-writer.ts). */
  readonly lines: readonly Buffer[];
}

/** Accepts the stored bytes of the object in their order, except the footer. It owns them. */
type PartSink = (part: Uint8Array) => Promise<void>;

/** Page of another chunk to copy as it is stored. */
export interface CopiedPage {
  /** Its metadata in the footer of the other chunk. */
  readonly page: PageMeta;
  /** Streams of the other chunk. */
  readonly streams: readonly Stream[];
  /** Its verified bytes. The new chunk owns them. */
  readonly stored: Uint8Array;
  readonly copy: PageCopy;
}

/** Page to compress: its rows, and the number in the chunk of each stream of their batch. */
interface PageRowsToPack extends RowSlice {
  readonly numbers: ArrayLike<number>;
}

export class ChunkAssembler {
  readonly #compression: Compression;
  readonly #indexer: ChunkIndexer | undefined;
  readonly #pageBytes: number;
  readonly #pace: Pace | undefined;
  readonly #sink: PartSink | undefined;
  readonly #streams = new ChunkStreams();
  readonly #counter = new RowCounter();
  readonly #pages: PageMeta[] = [];
  readonly #parts: Uint8Array[] = [];
  readonly #copied: boolean[] = [];
  readonly #lines: Buffer[] = [];
  #open: ChunkRows | undefined;
  #packedBytes = 0;

  /**
   * @param compression zstd parameters for the large blocks
   * @param indexer Indexer for this object only
   * @param pageBytes Raw bytes of the lines of a page
   * @param pace Time slices of the work; omit it if nothing else waits for this thread
   * @param sink Default: the parts are returned at the end
   */
  constructor(
    compression: Compression,
    indexer?: ChunkIndexer,
    pageBytes = PAGE_TARGET_BYTES,
    pace?: Pace,
    sink?: PartSink,
  ) {
    this.#compression = compression;
    this.#indexer = indexer;
    this.#pageBytes = pageBytes;
    this.#pace = pace;
    this.#sink = sink;
  }

  /**
   * Adds the rows of a batch, and each stream of the batch has rows. They continue the open page if they follow its rows by
   * stream and time. Rejects if the rows do not ascend; the assembler is unusable afterward. With `keepsLines`, the
   * written chunk has the lines of the pages that this call completes. With `isAlone`, this thread compresses a single
   * page itself, or as many small ones as would be one of PAGE_TARGET_BYTES; more are compressed in parallel.
   */
  async add(input: ChunkRows, { last = false, keepsLines = false, isAlone = false } = {}): Promise<void> {
    checkOrder(input);
    if (this.#open !== undefined && !follows(input, this.#open)) await this.#packOpen();
    const numbers = this.#streams.numbersOf(input.streams);
    await this.#run(this.#counter.add(input, numbers));
    const full: PageRowsToPack[] = [];
    let from = 0;
    for (const cut of await this.#run(cutPages(input, this.#open, this.#pageBytes))) {
      full.push(this.#pageOf({ rows: input, from, to: cut }, numbers));
      from = cut;
    }
    const rest = { rows: input, from, to: input.rows };
    if (last) full.push(this.#pageOf(rest, numbers));
    else this.#keepOpen(rest);
    const isOnePage = full.length <= PAGE_TARGET_BYTES / this.#pageBytes;
    await this.#pack(full, { keepsLines, isHere: isAlone && isOnePage });
  }

  /**
   * Compresses the open page, and adds a page of another chunk as it is stored. Its rows can be anywhere in the order of
   * streams and times. `addCounts` has to count them.
   */
  async copy({ page, streams, stored, copy }: CopiedPage): Promise<void> {
    invariant(stored.length === page.storedBytes, 'a page is copied whole');
    await this.#packOpen();
    const numbers = this.#streams.numbersOf(page.runs.map(({ stream }) => streams[stream]));
    const runs = page.runs.map((run, i) => ({ ...run, stream: numbers[i] }));
    if (this.#indexer !== undefined) {
      invariant(this.#indexer.copied !== undefined, 'the indexer has the derived data of a copied page');
      this.#indexer.copied(copy);
    }
    await this.#addPage({ ...withDecodedColumns(page), runs }, stored, true);
  }

  /** Counts rows of a stream in copied pages. @param levels names of the levels */
  addCounts(stream: Stream, levels: readonly string[], counts: readonly LevelCounts[]): void {
    this.#counter.addCounts(this.#streams.numbersOf([stream])[0], levels, counts);
  }

  /** Compresses the open page, and ends the object. At least one row must have been added. */
  async finish(head: ChunkHead): Promise<WrittenChunk> {
    await this.#packOpen();
    invariant(this.#pages.length > 0, 'a chunk has at least one row');
    const { streams, order } = this.#streams.sorted();
    const pages = order === undefined ? this.#pages : renumbered(this.#pages, order);
    const { levels, counts, metadataBytes } = this.#counter.finish(order);
    let first = Infinity;
    let last = 0;
    let rows = 0;
    let lineBytes = 0;
    for (const page of pages) {
      rows += page.rows;
      lineBytes += page.lineBytes;
      for (const run of page.runs) {
        if (run.first < first) first = run.first;
        if (run.last > last) last = run.last;
      }
    }
    const sections = await this.#addSections();
    const footer: Footer = {
      version: versionOf(pages),
      ...head,
      origin: head.origin ?? head.id,
      rows,
      lineBytes,
      metadataBytes,
      first,
      last,
      streams,
      pages,
      levels,
      counts,
      sections,
    };
    const tail = await this.#run(encodeFooterInSteps(footer));
    const bytes = this.#packedBytes + tail.length;
    return {
      footer,
      parts: [...this.#parts, tail],
      copied: this.#copied,
      bytes,
      footerBytes: tail.length,
      lines: this.#lines,
    };
  }

  async #run<T>(steps: Steps<T>): Promise<T> {
    return this.#pace === undefined ? atOnce(steps) : runPaced(steps, this.#pace);
  }

  async #addSections(): Promise<SectionMeta[]> {
    const sections: SectionMeta[] = [];
    for (const { kind, bytes: section } of this.#indexer?.finish() ?? []) {
      const { bytes, rawBytes, codec, crc } = storeRaw(section);
      const block = { offset: this.#packedBytes, storedBytes: bytes.length, rawBytes, codec, crc };
      await this.#addPart(bytes);
      sections.push({ kind, block });
    }
    return sections;
  }

  async #addPart(bytes: Uint8Array): Promise<void> {
    this.#packedBytes += bytes.length;
    if (this.#sink === undefined) this.#parts.push(bytes);
    else await this.#sink(bytes);
  }

  /** Returns a page that ends with `slice`, and begins with the open page if there is one. */
  #pageOf(slice: RowSlice, numbers: ArrayLike<number>): PageRowsToPack {
    const open = this.#open;
    // Literals, not copies with `...`: V8 discards the hidden class of such a copy with its last object, and then
    // deoptimizes the functions that expect it.
    if (open === undefined) return { rows: slice.rows, from: slice.from, to: slice.to, numbers };
    this.#open = undefined;
    if (slice.to === slice.from) return this.#wholePage(open);
    const rows = joinRows([{ rows: open, from: 0, to: open.rows }, slice]);
    releaseJoined(open);
    return this.#wholePage(rows);
  }

  #wholePage(rows: ChunkRows): PageRowsToPack {
    return { rows, from: 0, to: rows.rows, numbers: this.#streams.numbersOf(rows.streams) };
  }

  #keepOpen(slice: RowSlice): void {
    const open = this.#open;
    if (open === undefined) {
      this.#open = joinRows([slice]);
    } else {
      this.#open = joinRows([{ rows: open, from: 0, to: open.rows }, slice]);
      releaseJoined(open);
    }
  }

  async #packOpen(): Promise<void> {
    const rows = this.#open;
    if (rows === undefined) return;
    this.#open = undefined;
    await this.#pack([this.#wholePage(rows)]);
  }

  async #addPage(page: PageMeta, stored: Uint8Array, isCopied: boolean): Promise<void> {
    this.#pages.push({ ...page, offset: this.#packedBytes });
    this.#copied.push(isCopied);
    await this.#addPart(stored);
  }

  async #pack(
    pages: readonly PageRowsToPack[],
    { keepsLines = false, isHere = false }: Omit<PackOptions, 'pace'> = {},
  ): Promise<void> {
    for (let i = 0; i < pages.length; i += PAGES_AT_ONCE) {
      const packed: Promise<PackedPage>[] = [];
      for (const { rows, from, to } of pages.slice(i, i + PAGES_AT_ONCE)) {
        const options = { pace: this.#pace, keepsLines, isHere };
        const page = packPage(rows, from, to, this.#compression, this.#indexer, options);
        packed.push(handled(page));
        if (this.#pace?.due()) await this.#pace.yieldIfDue();
      }
      const done = await Promise.all(packed);
      for (let j = 0; j < done.length; j++) {
        const { meta, bytes, lines } = done[j];
        if (lines !== undefined) this.#lines.push(lines);
        const { rows, numbers } = pages[i + j];
        // Lines that are kept may be those of the open page. The others are packed.
        if (lines === undefined) releaseJoined(rows);
        // All streams of a push have their numbers already.
        const isNumbered = meta.runs.every(({ stream }) => numbers[stream] === stream);
        const runs = isNumbered ? meta.runs : meta.runs.map(run => ({ ...run, stream: numbers[run.stream] }));
        await this.#addPage({ ...meta, runs }, bytes, false);
      }
    }
  }
}

/** Returns the pages with streams by their order. They ascend in each page before and after. */
function renumbered(pages: readonly PageMeta[], order: Uint32Array): PageMeta[] {
  return pages.map(page => ({
    ...page,
    runs: page.runs.map(run => ({ ...run, stream: order[run.stream] })),
  }));
}

function checkOrder(input: ChunkRows): void {
  const { rows, streams, streamOf, times } = input;
  invariant(rows > 0, 'a chunk has at least one row');
  for (let i = 1; i < streams.length; i++) {
    invariant(compareUtf8(streams[i - 1].text, streams[i].text) < 0, 'streams of a chunk ascend by text');
  }
  for (let row = 1; row < rows; row++) {
    const sameStream = streamOf[row] === streamOf[row - 1];
    invariant(
      sameStream ? times[row] >= times[row - 1] : streamOf[row] > streamOf[row - 1],
      'rows of a batch ascend by stream and time',
    );
  }
}

/** Whether rows come after those of the open page, or have the timestamp of the last one. */
function follows({ streams, streamOf, times }: ChunkRows, open: ChunkRows): boolean {
  const order = compareUtf8(open.streams[open.streams.length - 1].text, streams[streamOf[0]].text);
  return order < 0 || (order === 0 && open.times[open.rows - 1] <= times[0]);
}
