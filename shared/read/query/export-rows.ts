/**
 * Stores rows of an export in columns: an object for each of 100,000 entries would cost more than reading
 * them. Lines are copied from the pages as bytes, adjacent rows in one copy.
 */
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import type { PageRows } from '../../base/model/page.ts';
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
export interface RowsMark {
  readonly count: number;
  readonly lineBytes: number;
  readonly pages: number;
  readonly labelSets: number;
}

const FIRST_ROWS = 4096;
const FIRST_LINE_BYTES = 256 * 1024;
/** Bytes of a row in the columns and in the order. */
const BYTES_PER_ROW = 8 + 5 * 4 + 8;
const BYTES_PER_LABEL_SET = 300;
const NO_BYTES = Buffer.alloc(0);

export class ExportRows implements LogSink {
  count = 0;
  lineBytes = 0;
  /** Nanoseconds since the start of the day. */
  times = new Float64Array(FIRST_ROWS);
  /** Ranges of lines in `lines`. */
  starts = new Uint32Array(FIRST_ROWS);
  ends = new Uint32Array(FIRST_ROWS);
  /** Indexes in `labelSets`. */
  labels = new Uint32Array(FIRST_ROWS);
  lines: Buffer = Buffer.allocUnsafeSlow(FIRST_LINE_BYTES);
  labelSets: LabelCategories[] = [];
  /** Maximum bytes of lines of a window. */
  maxLineBytes: number;
  #pageOf = new Uint32Array(FIRST_ROWS);
  #rowOf = new Uint32Array(FIRST_ROWS);
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

  /** @param budget memory budget of the query; held bytes stay charged */
  constructor(maxLineBytes: number, budget: MemoryBudget) {
    this.maxLineBytes = maxLineBytes;
    this.#budget = budget;
    budget.reserve(FIRST_ROWS * BYTES_PER_ROW + FIRST_LINE_BYTES);
  }

  /**
   * Starts a page: later rows of `emit` belong to it.
   *
   * @param tenant index of the tenant in the query
   */
  begin(rows: PageRows, page: CollectedPage, tenant: number): void {
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
    if (i === this.times.length) this.#growRows();
    const { lineStart, lineEnd } = entry;
    const bytes = lineEnd - lineStart;
    if (this.lineBytes + bytes > this.maxLineBytes) throw new WindowTooLarge();
    if (this.lineBytes + bytes > this.lines.length) this.#growLines(this.lineBytes + bytes);
    this.labels[i] = this.#idOf(entry.categories());
    this.times[i] = this.#timeOf(row);
    this.#pageOf[i] = this.#pages.length - 1;
    this.#rowOf[i] = row;
    this.starts[i] = this.lineBytes;
    const { lineBuffer } = entry;
    if (entry.lineChanged || lineBuffer !== this.#source || lineStart !== this.#to) {
      this.flush();
      this.#source = lineBuffer;
      this.#from = lineStart;
    }
    this.#to = lineEnd;
    this.lineBytes += bytes;
    this.ends[i] = this.lineBytes;
    this.count = i + 1;
    if (entry.lineChanged) this.flush();
  }

  #timeOf(row: number): number {
    return this.#pages[this.#pages.length - 1].page.page.base + this.#rows!.times[row];
  }

  /** Copies pending bytes. Call it before the bytes of the page are released. */
  flush(): void {
    const bytes = this.#to - this.#from;
    if (bytes > 0) this.#source.copy(this.lines, this.lineBytes - bytes, this.#from, this.#to);
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
    const { times, count } = this;
    // Not a typed array: only the sort of arrays benefits from sorted parts, such as rows of a stream.
    const order = Array.from({ length: count }, (_, i) => i);
    order.sort((a, b) => times[a] - times[b] || this.#compareEqual(a, b));
    return Uint32Array.from(order);
  }

  #compareEqual(a: number, b: number): number {
    const [first, second] = [this.#pages[this.#pageOf[a]], this.#pages[this.#pageOf[b]]];
    return (
      compareSources(this.#sourceOf(first, a), this.#sourceOf(second, b)) ||
      first.tenant - second.tenant ||
      compareChunks(first.page.record, second.page.record) ||
      first.page.page.offset - second.page.page.offset ||
      this.#rowOf[a] - this.#rowOf[b]
    );
  }

  #sourceOf({ page: { page, footer }, sources }: SeenPage, i: number): EntrySource {
    const row = this.#rowOf[i];
    const run = page.runs.findLastIndex(({ firstRow }) => firstRow <= row);
    sources[run] ??= new StoredSource(footer.streams[page.runs[run].stream]);
    return sources[run];
  }

  #growRows(): void {
    const { length } = this.times;
    this.#budget.reserve(length * BYTES_PER_ROW);
    this.times = enlarged(this.times, new Float64Array(2 * length));
    this.starts = enlarged(this.starts, new Uint32Array(2 * length));
    this.ends = enlarged(this.ends, new Uint32Array(2 * length));
    this.labels = enlarged(this.labels, new Uint32Array(2 * length));
    this.#pageOf = enlarged(this.#pageOf, new Uint32Array(2 * length));
    this.#rowOf = enlarged(this.#rowOf, new Uint32Array(2 * length));
  }

  #growLines(needed: number): void {
    const before = this.lines;
    const bytes = Math.min(Math.max(2 * before.length, needed), Math.max(needed, this.maxLineBytes));
    this.#budget.reserve(bytes);
    this.lines = Buffer.allocUnsafeSlow(bytes);
    before.copy(this.lines, 0, 0, this.lineBytes);
    this.#budget.release(before.length);
  }
}

function enlarged<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
