/**
 * Stores rows of an export in columns: an object for each of 100,000 entries would cost more than reading
 * them. Lines are copied from the pages as bytes, adjacent rows in one copy.
 */

import { type FileFormat, FileWriter } from '../../base/kernels/file-rows.ts';
import { addPool } from '../../base/model/buffer-pool.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import type { PageRows } from '../../base/model/page.ts';
import { rowsByTime } from '../../base/model/sorted-rows.ts';
import type { LabelCategories } from '../../execution/pipeline/label-map.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import { compareChunks } from '../../storage/catalog/chunk-order.ts';
import { compareSources, type EntrySource, StoredSource } from './entry-order.ts';
import type { CollectedPage } from './log-collector.ts';

/** Reports that the window has more lines than a response. A shorter one is tried. */
export class WindowTooLarge extends Error {}

interface SeenPage {
  /** Index of the tenant in the query. */
  readonly tenant: number;
  readonly page: CollectedPage;
  /** Sources by run. */
  readonly sources: (EntrySource | undefined)[];
}

/** State that `truncate` restores. */
interface RowsMark {
  readonly count: number;
  readonly lineBytes: number;
  readonly pages: number;
  readonly labelSets: number;
}

/** Rows of an answer of 16 MiB. */
const FIRST_ROWS = 65_536;
const FIRST_LINE_BYTES = 1024 * 1024;
/** Bytes of a row in the columns, and in the order. */
const BYTES_PER_ROW = 8 + 5 * 4 + 8;
/** Rows that are charged at first. */
const MIN_ROOM_ROWS = 4096;
const BYTES_PER_LABEL_SET = 300;
const NO_BYTES = Buffer.alloc(0);

/** Columns by row, and the lines: memory that is used again, because its pages cost more to get than to fill. */
class RowMemory {
  readonly writer = new FileWriter();
  times = new Float64Array(FIRST_ROWS);
  starts = new Uint32Array(FIRST_ROWS);
  ends = new Uint32Array(FIRST_ROWS);
  labels = new Uint32Array(FIRST_ROWS);
  pageOf = new Uint32Array(FIRST_ROWS);
  rowOf = new Uint32Array(FIRST_ROWS);

  get bytes(): number {
    return this.writer.bytes + BYTES_PER_ROW * this.times.length;
  }

  growRows(): void {
    const { length } = this.times;
    this.times = enlarged(this.times, new Float64Array(2 * length));
    this.starts = enlarged(this.starts, new Uint32Array(2 * length));
    this.ends = enlarged(this.ends, new Uint32Array(2 * length));
    this.labels = enlarged(this.labels, new Uint32Array(2 * length));
    this.pageOf = enlarged(this.pageOf, new Uint32Array(2 * length));
    this.rowOf = enlarged(this.rowOf, new Uint32Array(2 * length));
  }
}

/** Maximum memory that is kept for the next export. */
const MAX_SPARE_BYTES = 64 * 1024 * 1024;
const SPARE_MEMORIES: RowMemory[] = [];
const SPARE = {
  get heldBytes(): number {
    return SPARE_MEMORIES.reduce((sum, { bytes }) => sum + bytes, 0);
  },
  clear: () => void (SPARE_MEMORIES.length = 0),
};
addPool(SPARE);

export class ExportRows implements LogSink {
  count = 0;
  lineBytes = 0;
  labelSets: LabelCategories[] = [];
  /** Maximum bytes of lines of a window. */
  maxLineBytes: number;
  readonly #memory: RowMemory;
  #rowRoom = 0;
  #lineRoom = 0;
  /** Memory for lines. */
  #lines: Buffer;
  readonly #pages: SeenPage[] = [];
  #rows: PageRows | undefined;
  readonly #ids = new Map<LabelCategories, number>();
  #lastSet: LabelCategories | undefined;
  #lastId = 0;
  /** Bytes of a page that are not copied yet. */
  #source: Buffer = NO_BYTES;
  #from = 0;
  #to = 0;
  readonly #budget: MemoryBudget;
  readonly #hasLabels: boolean;
  #order: Uint32Array = new Uint32Array(0);

  /** @param budget memory budget of the query, charged for all rows @param hasLabels false if the label sets of rows are not read */
  constructor(
    maxLineBytes: number,
    budget: MemoryBudget,
    { hasLabels = true }: { readonly hasLabels?: boolean } = {},
  ) {
    this.maxLineBytes = maxLineBytes;
    this.#budget = budget;
    this.#hasLabels = hasLabels;
    this.#memory = SPARE_MEMORIES.pop() ?? new RowMemory();
    this.#lines = this.#memory.writer.lines(FIRST_LINE_BYTES);
  }

  /** Lays the rows down to be written. To be called once. Returns the bytes of the file. */
  begin(format: FileFormat): number {
    const { times, starts, ends, labels, writer } = this.#memory;
    this.#order = this.order();
    const rows = { count: this.count, order: this.#order, times, starts, ends, labels };
    return writer.begin(rows, this.lineBytes, format);
  }

  /** See FileWriter. */
  next(output: Buffer, at: number): number {
    return this.#memory.writer.next(output, at);
  }

  /**
   * Writes columns in the order of the file, after `begin`: times, indexes into `labelSets`, and ends of the lines, each with a line feed
   * behind it.
   */
  writeColumns(columns: {
    readonly times: Float64Array;
    readonly labels: Uint32Array;
    readonly ends: Uint32Array;
  }): void {
    const { times, labels, starts, ends } = this.#memory;
    const order = this.#order;
    let end = 0;
    for (let i = 0; i < order.length; i++) {
      const row = order[i];
      columns.times[i] = times[row];
      columns.labels[i] = labels[row];
      end += ends[row] - starts[row];
      columns.ends[i] = end++;
    }
  }

  /** The rows one by one in the order of a file, with lines as texts; until they are released. */
  *texts(): Generator<{ readonly time: number; readonly labels: LabelCategories; readonly line: string }> {
    const { times, starts, ends, labels, writer } = this.#memory;
    for (const row of this.order()) {
      const line = writer.lines(this.lineBytes).toString('utf8', starts[row], ends[row]);
      yield { time: times[row], labels: this.labelSets[labels[row]], line };
    }
  }

  /** Call it once the export has ended, also after an error. The rows are then invalid. */
  release(): void {
    if (SPARE.heldBytes + this.#memory.bytes <= MAX_SPARE_BYTES) SPARE_MEMORIES.push(this.#memory);
  }

  /** The rows that `emit` names from here on are of this page. @param tenant index among the tenants of the query */
  enter(rows: PageRows, page: CollectedPage, tenant: number): void {
    this.#rows = rows;
    const last = this.#pages.at(-1);
    // A page may be visited in several time slices.
    if (last?.page !== page) this.#pages.push({ tenant, page, sources: [] });
  }

  wants(): boolean {
    return true;
  }

  /** Throws WindowTooLarge, or BadRequestError if the budget is exhausted. */
  emit(row: number, entry: PipelineRow): void {
    const i = this.count;
    if (i === this.#rowRoom) this.#growRows();
    const { lineStart, lineEnd } = entry;
    const bytes = lineEnd - lineStart;
    if (this.lineBytes + bytes > this.maxLineBytes) throw new WindowTooLarge();
    if (this.lineBytes + bytes > this.#lineRoom) this.#growLines(this.lineBytes + bytes);
    const { labels, times, pageOf, rowOf, starts, ends } = this.#memory;
    labels[i] = this.#hasLabels ? this.#idOf(entry.categories()) : 0;
    times[i] = this.#timeOf(row);
    pageOf[i] = this.#pages.length - 1;
    rowOf[i] = row;
    starts[i] = this.lineBytes;
    const { lineBuffer } = entry;
    if (entry.lineChanged || lineBuffer !== this.#source || lineStart !== this.#to) {
      this.flush();
      this.#source = lineBuffer;
      this.#from = lineStart;
    }
    this.#to = lineEnd;
    this.lineBytes += bytes;
    ends[i] = this.lineBytes;
    this.count = i + 1;
    if (entry.lineChanged) this.flush();
  }

  #timeOf(row: number): number {
    return this.#pages[this.#pages.length - 1].page.page.base + this.#rows!.times[row];
  }

  /** Copies pending bytes. Call it before the bytes of the page are released. */
  flush(): void {
    const bytes = this.#to - this.#from;
    if (bytes > 0) this.#source.copy(this.#lines, this.lineBytes - bytes, this.#from, this.#to);
    this.#source = NO_BYTES;
    this.#from = 0;
    this.#to = 0;
  }

  #idOf(set: LabelCategories): number {
    if (set === this.#lastSet) return this.#lastId;
    let id = this.#ids.get(set);
    if (id === undefined) {
      this.#budget.reserve(BYTES_PER_LABEL_SET);
      id = this.labelSets.length;
      this.labelSets.push(set);
      this.#ids.set(set, id);
    }
    this.#lastSet = set;
    this.#lastId = id;
    return id;
  }

  mark(): RowsMark {
    const { count, lineBytes, labelSets } = this;
    return { count, lineBytes, pages: this.#pages.length, labelSets: labelSets.length };
  }

  /** Removes the rows since the mark. */
  truncate({ count, lineBytes, pages, labelSets }: RowsMark): void {
    this.count = count;
    this.lineBytes = lineBytes;
    this.#pages.length = pages;
    const forgotten = this.labelSets.splice(labelSets);
    for (const set of forgotten) this.#ids.delete(set);
    this.#budget.release(BYTES_PER_LABEL_SET * forgotten.length);
    this.#lastSet = undefined;
    this.#source = NO_BYTES;
    this.#from = 0;
    this.#to = 0;
  }

  /** Returns the rows in the order of a forward query (entry-order.ts). */
  order(): Uint32Array {
    return rowsByTime(this.#memory.times, this.count, (a, b) => this.#compareEqual(a, b));
  }

  #compareEqual(a: number, b: number): number {
    const { pageOf, rowOf } = this.#memory;
    const [first, second] = [this.#pages[pageOf[a]], this.#pages[pageOf[b]]];
    return (
      compareSources(this.#sourceOf(first, a), this.#sourceOf(second, b)) ||
      first.tenant - second.tenant ||
      compareChunks(first.page.record, second.page.record) ||
      first.page.page.offset - second.page.page.offset ||
      rowOf[a] - rowOf[b]
    );
  }

  #sourceOf({ page: { page, footer }, sources }: SeenPage, i: number): EntrySource {
    const row = this.#memory.rowOf[i];
    const run = page.runs.findLastIndex(({ firstRow }) => firstRow <= row);
    sources[run] ??= new StoredSource(footer.streams[page.runs[run].stream]);
    return sources[run];
  }

  #growRows(): void {
    const room = Math.max(MIN_ROOM_ROWS, 2 * this.#rowRoom);
    this.#budget.reserve((room - this.#rowRoom) * BYTES_PER_ROW);
    while (this.#memory.times.length < room) this.#memory.growRows();
    this.#rowRoom = room;
  }

  #growLines(needed: number): void {
    const room = Math.min(
      Math.max(2 * this.#lineRoom, needed, FIRST_LINE_BYTES),
      Math.max(needed, this.maxLineBytes),
    );
    this.#budget.reserve(room - this.#lineRoom);
    this.#lines = this.#memory.writer.lines(room);
    this.#lineRoom = room;
  }
}
