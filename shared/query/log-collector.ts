/**
 * Keeps the first `limit` entries of one day in the direction of a query, whatever order its pages come in. What
 * cannot be among them any more is refused before it is parsed. What is kept is charged: a few stages can make a
 * megabyte of a short line.
 */
import type { MemoryBudget } from '../metrics/memory-budget.ts';
import type { Labels } from '../model/labels.ts';
import type { PageRows } from '../model/page.ts';
import type { LogSink, PipelineRow } from '../pipeline/pipeline.ts';

export interface CollectedEntry {
  /** Nanoseconds since the start of the day. */
  readonly time: number;
  /** Order of arrival: keeps entries of equal time as they were stored. */
  readonly order: number;
  readonly line: string;
  /** Text of `stream`, the key of the result stream. */
  readonly key: string;
  /** Labels of the result stream. */
  readonly stream: Labels;
  /** With categorised labels only. */
  readonly structuredMetadata: Labels | undefined;
  readonly parsed: Labels | undefined;
}

export class LogCollector implements LogSink {
  private entries: CollectedEntry[] = [];
  private order = 0;
  /** Entries at or past this time come too late; -1 or Infinity while there is room. */
  private threshold: number;
  private page: PageRows | undefined;
  private base = 0;
  readonly limit: number;
  readonly backward: boolean;
  private readonly categorize: boolean;
  private readonly budget: MemoryBudget;

  /** @param budget of the whole query: what `finish` returns stays charged */
  constructor(limit: number, backward: boolean, categorize: boolean, budget: MemoryBudget) {
    this.limit = limit;
    this.backward = backward;
    this.categorize = categorize;
    this.budget = budget;
    this.threshold = backward ? -1 : Infinity;
  }

  /** @param base what the page's times are relative to, ns since the start of the day */
  begin(page: PageRows, base: number): void {
    this.page = page;
    this.base = base;
  }

  /** Entries at or past this time come too late; undefined while there is room. */
  get bound(): number | undefined {
    return this.threshold === -1 || this.threshold === Infinity ? undefined : this.threshold;
  }

  /** What others have found bounds what is looked for here. */
  startAt(bound: number | undefined): void {
    if (bound !== undefined) this.threshold = bound;
  }

  /** Takes an entry that another collector has kept, behind those that are here. Throws as `emit`. */
  take(entry: Omit<CollectedEntry, 'order'>): void {
    if (!this.reaches(entry.time, entry.time)) return;
    this.add({ ...entry, order: this.order++ });
    if (this.entries.length >= 2 * this.limit + 64) this.prune();
  }

  /** False where nothing between the two times can be among the first. */
  reaches(first: number, last: number): boolean {
    return this.backward ? last > this.threshold : first < this.threshold;
  }

  wants(row: number): boolean {
    const time = this.base + this.page!.times[row];
    return this.backward ? time > this.threshold : time < this.threshold;
  }

  /** Throws BadRequestError where the entries hold more than the budget. */
  emit(row: number, entry: PipelineRow): void {
    const time = this.base + this.page!.times[row];
    const order = this.order++;
    const line = entry.line();
    if (this.categorize) {
      const { stream, structuredMetadata, parsed } = entry.categories();
      const key = entry.streamText();
      this.add({ time, order, line, key, stream, structuredMetadata, parsed });
    } else {
      const stream = entry.labels();
      const key = entry.labelText();
      this.add({ time, order, line, key, stream, structuredMetadata: undefined, parsed: undefined });
    }
    if (this.entries.length >= 2 * this.limit + 64) this.prune();
  }

  private add(entry: CollectedEntry): void {
    this.budget.reserve(sizeOf(entry));
    this.entries.push(entry);
  }

  private prune(): void {
    this.sort();
    for (let i = this.limit; i < this.entries.length; i++) this.budget.release(sizeOf(this.entries[i]));
    if (this.entries.length > this.limit) this.entries.length = this.limit;
    if (this.entries.length === this.limit) this.threshold = this.entries[this.limit - 1].time;
  }

  private sort(): void {
    const sign = this.backward ? -1 : 1;
    this.entries.sort((a, b) => sign * (a.time - b.time) || a.order - b.order);
  }

  /** Lets `reaches` and `wants` know as soon as there are `limit` entries. */
  settle(): void {
    if (this.entries.length >= this.limit) this.prune();
  }

  /** The first entries, in the direction of the query. */
  finish(): CollectedEntry[] {
    this.prune();
    return this.entries;
  }
}

/** Beside the texts: the object and its place in lists. */
const BYTES_PER_ENTRY = 100;

/** Roughly what an entry keeps, and what it takes in the answer. Labels are in the key or in the lists. */
function sizeOf({ line, key, structuredMetadata, parsed }: CollectedEntry): number {
  return BYTES_PER_ENTRY + line.length + key.length + lengthOf(structuredMetadata) + lengthOf(parsed);
}

function lengthOf(labels: Labels | undefined): number {
  let length = 0;
  if (labels !== undefined) for (const { name, value } of labels) length += name.length + value.length;
  return length;
}
