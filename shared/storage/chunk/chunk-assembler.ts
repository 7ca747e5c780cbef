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
import type { PageRows, Stream } from '../../base/model/page.ts';
import { atOnce, type Pace, runPaced, type Steps } from '../../base/model/steps.ts';
import { type Compression, storeRaw } from '../codec/compression.ts';
import type { ChunkIndexer, PageCopy } from './chunk-indexer.ts';
import { RowCounter } from './counts.ts';
import { encodeFooterInSteps } from './footer-codec.ts';
import { type Footer, PAGE_TARGET_BYTES, type PageMeta, type SectionMeta, versionOf } from './format.ts';
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
  /** Its rows, with line lengths and all metadata. */
  readonly rows: PageRows;
  readonly copy: PageCopy;
}

/** Page to compress: its rows, and the chunk's index of the first stream of their batch. */
interface PageRowsToPack extends RowSlice {
  readonly firstStream: number;
}

export class ChunkAssembler {
  readonly #compression: Compression;
  readonly #indexer: ChunkIndexer | undefined;
  readonly #pageBytes: number;
  readonly #pace: Pace | undefined;
  readonly #sink: PartSink | undefined;
  readonly #streams: Stream[] = [];
  readonly #counter = new RowCounter();
  readonly #pages: PageMeta[] = [];
  readonly #parts: Uint8Array[] = [];
  readonly #copied: boolean[] = [];
  readonly #lines: Buffer[] = [];
  /** Rows of the open page, and the index of its first stream. */
  #open: ChunkRows | undefined;
  #openStream = 0;
  #lastTime = 0;
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
   * Adds the rows of a batch. They follow those of earlier batches by stream and time, and each stream of the
   * batch has rows. Rejects if the rows violate this; the assembler is unusable afterward. With `keepsLines`, the
   * written chunk has the lines of the pages that this call completes. With `isAlone`, this thread compresses a single
   * page itself, or as many small ones as would be one of PAGE_TARGET_BYTES; more are compressed in parallel.
   */
  async add(input: ChunkRows, { last = false, keepsLines = false, isAlone = false } = {}): Promise<void> {
    const firstStream = this.#addStreams(input);
    await this.#run(this.#counter.add(input, firstStream));
    const full: PageRowsToPack[] = [];
    let from = 0;
    for (const cut of await this.#run(cutPages(input, this.#open, this.#pageBytes))) {
      full.push(this.#pageOf({ rows: input, from, to: cut }, firstStream));
      from = cut;
    }
    const rest = { rows: input, from, to: input.rows };
    if (last) full.push(this.#pageOf(rest, firstStream));
    else this.#keepOpen(rest, firstStream);
    const isOnePage = full.length <= PAGE_TARGET_BYTES / this.#pageBytes;
    await this.#pack(full, { keepsLines, isHere: isAlone && isOnePage });
  }

  /** Raw bytes of the lines of the open page. */
  get openBytes(): number {
    return this.#open === undefined ? 0 : this.#open.lineEnd[this.#open.rows - 1];
  }

  /**
   * Compresses the open page, and adds a page of another chunk as it is stored. Its rows follow those that
   * were added by stream and time.
   */
  async copy({ page, streams, stored, rows, copy }: CopiedPage): Promise<void> {
    invariant(stored.length === page.storedBytes, 'a page is copied whole');
    await this.#packOpen();
    const runs = page.runs.map(run => {
      const stream = this.#addStream(streams[run.stream], run.first);
      this.#lastTime = run.last;
      return { ...run, stream };
    });
    this.#counter.addPage(rows, { base: page.base, runs });
    if (this.#indexer !== undefined) {
      invariant(this.#indexer.copied !== undefined, 'the indexer has the derived data of a copied page');
      this.#indexer.copied(copy);
    }
    await this.#addPage({ ...withDecodedColumns(page), runs }, stored, true);
  }

  /** Compresses the open page, and ends the object. At least one row must have been added. */
  async finish(head: ChunkHead): Promise<WrittenChunk> {
    await this.#packOpen();
    const pages = this.#pages;
    const streams = this.#streams;
    invariant(pages.length > 0, 'a chunk has at least one row');
    const { levels, counts, metadataBytes } = this.#counter.finish();
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

  /**
   * Adds the batch's streams to the chunk and returns the index of the first one. Checks the order of all
   * rows.
   */
  #addStreams(input: ChunkRows): number {
    checkOrder(input);
    const first = this.#addStream(input.streams[0], input.times[0]);
    for (let i = 1; i < input.streams.length; i++) this.#streams.push(input.streams[i]);
    this.#lastTime = input.times[input.rows - 1];
    return first;
  }

  /** Returns the index of the stream of the next row: the last stream, or a new one. */
  #addStream(stream: Stream, time: number): number {
    const streams = this.#streams;
    const known = streams.length - 1;
    const goesOn = known >= 0 && streams[known].text === stream.text;
    const follows =
      known < 0 || (goesOn ? time >= this.#lastTime : compareUtf8(streams[known].text, stream.text) < 0);
    invariant(follows, 'rows of a chunk ascend by stream and time');
    if (!goesOn) streams.push(stream);
    return known + (goesOn ? 0 : 1);
  }

  /** Returns a page that ends with `slice`, and begins with the open page if there is one. */
  #pageOf(slice: RowSlice, firstStream: number): PageRowsToPack {
    const open = this.#open;
    // Literals, not copies with `...`: V8 discards the hidden class of such a copy with its last object, and then
    // deoptimizes the functions that expect it.
    if (open === undefined) return { rows: slice.rows, from: slice.from, to: slice.to, firstStream };
    this.#open = undefined;
    if (slice.to === slice.from) return { rows: open, from: 0, to: open.rows, firstStream: this.#openStream };
    const rows = joinRows([{ rows: open, from: 0, to: open.rows }, slice]);
    releaseJoined(open);
    return { rows, from: 0, to: rows.rows, firstStream: this.#openStream };
  }

  #keepOpen(slice: RowSlice, firstStream: number): void {
    const open = this.#open;
    if (open === undefined) {
      this.#open = joinRows([slice]);
      this.#openStream = firstStream + slice.rows.streamOf[slice.from];
    } else {
      this.#open = joinRows([{ rows: open, from: 0, to: open.rows }, slice]);
      releaseJoined(open);
    }
  }

  async #packOpen(): Promise<void> {
    const rows = this.#open;
    if (rows === undefined) return;
    this.#open = undefined;
    await this.#pack([{ rows, from: 0, to: rows.rows, firstStream: this.#openStream }]);
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
        const { rows, firstStream } = pages[i + j];
        // Lines that are kept may be those of the open page. The others are packed.
        if (lines === undefined) releaseJoined(rows);
        const runs =
          firstStream === 0
            ? meta.runs
            : meta.runs.map(run => ({ ...run, stream: run.stream + firstStream }));
        await this.#addPage({ ...meta, runs }, bytes, false);
      }
    }
  }
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
      'rows of a chunk ascend by stream and time',
    );
  }
}
