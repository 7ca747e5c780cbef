/**
 * Collects the first `limit` entries of one day in the direction of a query (entry-order.ts), independent of
 * the order of pages. An entry that cannot be among them is refused before it is parsed. Collected entries
 * are charged to the memory budget, because a few stages can expand a short line to a megabyte.
 */

import type { Labels } from '../../base/model/labels.ts';
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { LineForm } from '../../execution/fields/line-form.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import type { ChunkAge } from '../../storage/catalog/chunk-order.ts';
import type { Footer, RunMeta } from '../../storage/chunk/format.ts';
import { compareEntries, type EntryPosition, type EntrySource, StoredSource } from './entry-order.ts';

/** Shown fields of an entry. */
export interface EntryFields {
  readonly line: string;
  /**
   * Form of the line, if the line has only its values, with a zero byte for each byte of constant text
   * (LogRequest.field).
   */
  readonly form?: LineForm | undefined;
  /** Text of `stream`, the key of the result stream. */
  readonly key: string;
  /** Labels of the result stream. */
  readonly stream: Labels;
  /** Set only with categorized labels. */
  readonly structuredMetadata: Labels | undefined;
  readonly parsed: Labels | undefined;
}

export interface CollectedEntry extends EntryPosition, EntryFields {}

/** Attributes of a planned page whose rows are collected. */
export interface CollectedPage {
  readonly record: ChunkAge;
  readonly page: {
    readonly base: number;
    readonly offset: number;
    readonly runs: readonly Pick<RunMeta, 'stream' | 'firstRow' | 'rows'>[];
  };
  readonly footer: Pick<Footer, 'streams'>;
}

export class LogCollector implements LogSink {
  #entries: CollectedEntry[] = [];
  /** Last of `limit` entries. Later entries are refused. Undefined until there are `limit` entries. */
  #last: CollectedEntry | undefined;
  /** Entries after this time are refused, because others were found before. */
  #found: number | undefined;
  #rows: PageRows | undefined;
  #page: CollectedPage | undefined;
  /** Most recent run: rows come in ascending order. */
  #run = 0;
  #source: EntrySource | undefined;
  readonly limit: number;
  readonly backward: boolean;
  readonly #categorize: boolean;
  readonly #budget: MemoryBudget;

  /** @param budget memory budget of the whole query; the result of `finish` stays charged */
  constructor(limit: number, backward: boolean, categorize: boolean, budget: MemoryBudget) {
    this.limit = limit;
    this.backward = backward;
    this.#categorize = categorize;
    this.#budget = budget;
  }

  /** @param rows rows of the page, whose streams may have other labels than stored */
  begin(rows: PageRows, page: CollectedPage): void {
    this.#rows = rows;
    this.#page = page;
    this.#run = 0;
    this.#source = undefined;
  }

  /** Entries after this time are refused. Undefined until `limit` entries are found. */
  get bound(): number | undefined {
    return this.#last?.time ?? this.#found;
  }

  /** Sets the bound that entries found by others impose. */
  startAt(bound: number | undefined): void {
    this.#found = bound;
  }

  /** Adds an entry of another collector. Throws as `emit`. */
  take(entry: CollectedEntry): void {
    if (this.#accepts(entry)) this.#add(entry);
  }

  /** Returns false if nothing between the two times can be among the first. */
  reaches(first: number, last: number): boolean {
    const { bound } = this;
    if (bound === undefined) return true;
    // Entries at the bound itself may come before the last one.
    return this.backward ? last >= bound : first <= bound;
  }

  wants(row: number): boolean {
    const { bound } = this;
    if (bound === undefined) return true;
    const time = this.#timeOf(row);
    if (time !== bound) return time < bound !== this.backward;
    return this.#last === undefined || this.#accepts(this.#positionOf(row));
  }

  #accepts(position: EntryPosition): boolean {
    if (!this.reaches(position.time, position.time)) return false;
    return this.#last === undefined || compareEntries(position, this.#last, this.backward) < 0;
  }

  #timeOf(row: number): number {
    return this.#page!.page.base + this.#rows!.times[row];
  }

  #positionOf(row: number): EntryPosition {
    const { record, page } = this.#page!;
    return { time: this.#timeOf(row), source: this.#sourceOf(row), chunk: record, page: page.offset, row };
  }

  #sourceOf(row: number): EntrySource {
    const { page, footer } = this.#page!;
    const { runs } = page;
    let run = this.#run;
    if (row < runs[run].firstRow) run = 0;
    while (row >= runs[run].firstRow + runs[run].rows) run++;
    if (run !== this.#run) this.#source = undefined;
    this.#run = run;
    this.#source ??= new StoredSource(footer.streams[runs[run].stream]);
    return this.#source;
  }

  /** Throws BadRequestError if the entries exceed the budget. */
  emit(row: number, entry: PipelineRow): void {
    const line = entry.line();
    if (this.#categorize) {
      const { stream, structuredMetadata, parsed } = entry.categories();
      this.emitFields(row, { line, key: entry.streamText(), stream, structuredMetadata, parsed });
    } else {
      const [key, stream] = [entry.labelText(), entry.labels()];
      this.emitFields(row, { line, key, stream, structuredMetadata: undefined, parsed: undefined });
    }
  }

  /** Works as `emit`, for an entry that is shown with other fields. */
  emitFields(row: number, { line, form, key, stream, structuredMetadata, parsed }: EntryFields): void {
    const { record: chunk, page } = this.#page!;
    const [time, source] = [this.#timeOf(row), this.#sourceOf(row)];
    this.#add({
      time,
      source,
      chunk,
      page: page.offset,
      row,
      line,
      form,
      key,
      stream,
      structuredMetadata,
      parsed,
    });
  }

  #add(entry: CollectedEntry): void {
    this.#budget.reserve(sizeOf(entry));
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.limit + 64) this.#prune();
  }

  #prune(): void {
    const { limit, backward } = this;
    const entries = this.#entries;
    entries.sort((a, b) => compareEntries(a, b, backward));
    for (let i = limit; i < entries.length; i++) this.#budget.release(sizeOf(entries[i]));
    if (entries.length > limit) entries.length = limit;
    if (entries.length === limit) this.#last = entries[limit - 1];
  }

  /** Lets `reaches` and `wants` know as soon as there are `limit` entries. */
  settle(): void {
    if (this.#entries.length >= this.limit) this.#prune();
  }

  /** Returns the first entries, in the direction of the query. */
  finish(): CollectedEntry[] {
    this.#prune();
    return this.#entries;
  }
}

/** Bytes of the object and its list elements, in addition to texts. */
const BYTES_PER_ENTRY = 140;

/** Estimates the memory of an entry and its size in the response. Labels are in the key or in the lists. */
function sizeOf({ line, key, structuredMetadata, parsed }: EntryFields): number {
  return BYTES_PER_ENTRY + line.length + key.length + lengthOf(structuredMetadata) + lengthOf(parsed);
}

function lengthOf(labels: Labels | undefined): number {
  let length = 0;
  if (labels !== undefined) for (const { name, value } of labels) length += name.length + value.length;
  return length;
}
