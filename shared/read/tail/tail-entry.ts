/**
 * An entry as a tail shows it. It is encoded once for all clients with equal queries, because a hundred tails
 * of one query must not cost a hundred times its JSON.
 */
import { formatLabels, type Labels, labelsToObject } from '../../base/model/labels.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import { instantText } from './instant-text.ts';

/** `categorized`: structured metadata and parsed labels are separate. `legacy`: as in `/api/prom/tail`. */
export type EntryForm = 'plain' | 'categorized' | 'legacy';

export interface TailEntry {
  readonly timeNs: bigint;
  /** An element of `streams`. */
  readonly json: string;
  /** Size of `json` as UTF-8. */
  readonly bytes: number;
  /** Labels to report if the entry is dropped. */
  readonly labels: Labels;
  /** ID of the chunk that contains it. Empty for the lookback. */
  readonly chunkId: string;
}

/** A row of a pipeline or of a response, with the fields of its form. */
export interface ShownEntry {
  readonly timeNs: bigint;
  readonly line: string;
  /** Labels of the result stream. */
  readonly labels: Labels;
  readonly structuredMetadata?: Labels | undefined;
  readonly parsed?: Labels | undefined;
}

export function tailEntry(shown: ShownEntry, form: EntryForm, chunkId: string): TailEntry {
  const json = form === 'legacy' ? legacyJson(shown) : currentJson(shown, form === 'categorized');
  return { timeNs: shown.timeNs, json, bytes: Buffer.byteLength(json), labels: shown.labels, chunkId };
}

function currentJson(
  { timeNs, line, labels, structuredMetadata, parsed }: ShownEntry,
  categorize: boolean,
): string {
  const third = categorize ? `,${categoriesJson(structuredMetadata, parsed)}` : '';
  return `{"stream":${labelsJson(labels)},"values":[["${timeNs}",${JSON.stringify(line.toWellFormed())}${third}]]}`;
}

function categoriesJson(structuredMetadata: Labels | undefined, parsed: Labels | undefined): string {
  const parts: string[] = [];
  if (structuredMetadata?.length) parts.push(`"structuredMetadata":${labelsJson(structuredMetadata)}`);
  if (parsed?.length) parts.push(`"parsed":${labelsJson(parsed)}`);
  return `{${parts.join()}}`;
}

function legacyJson({ timeNs, line, labels }: ShownEntry): string {
  const entry = `{"ts":"${instantText(timeNs)}","line":${JSON.stringify(line.toWellFormed())}}`;
  return `{"labels":${JSON.stringify(formatLabels(labels))},"entries":[${entry}]}`;
}

/**
 * Maximum label sets with a cached text: rows of a page have few of them, as repeated objects (pipeline.ts).
 */
const MAX_CACHED_TEXTS = 256;
/** Longer texts have parsed labels, which differ between lines, and are not cached. */
const MAX_CACHED_CHARS = 4096;
const TEXTS = new Map<Labels, string>();

export function labelsJson(labels: Labels): string {
  const known = TEXTS.get(labels);
  if (known !== undefined) return known;
  const text = JSON.stringify(labelsToObject(labels));
  if (text.length > MAX_CACHED_CHARS) return text;
  if (TEXTS.size >= MAX_CACHED_TEXTS) TEXTS.clear();
  TEXTS.set(labels, text);
  return text;
}

/** Collects the rows that a pipeline passes, in the order of the page. */
export class EntrySink implements LogSink {
  readonly entries: TailEntry[] = [];
  #page: PageRows | undefined;
  #chunkId = '';
  readonly #form: EntryForm;

  constructor(form: EntryForm) {
    this.#form = form;
  }

  begin(page: PageRows, chunkId: string): void {
    this.#page = page;
    this.#chunkId = chunkId;
  }

  wants(): boolean {
    return true;
  }

  emit(row: number, entry: PipelineRow): void {
    const { baseNs, times } = this.#page!;
    const timeNs = baseNs + BigInt(times[row]);
    const line = entry.line();
    if (this.#form === 'categorized') {
      const { stream, structuredMetadata, parsed } = entry.categories();
      const shown = { timeNs, line, labels: stream, structuredMetadata, parsed };
      this.entries.push(tailEntry(shown, this.#form, this.#chunkId));
    } else {
      this.entries.push(tailEntry({ timeNs, line, labels: entry.labels() }, this.#form, this.#chunkId));
    }
  }
}

/** Sorts ascending by time. Equal times stay in the order of arrival. */
export function sortByTime(entries: TailEntry[]): TailEntry[] {
  return entries.sort((a, b) => (a.timeNs === b.timeNs ? 0 : a.timeNs < b.timeNs ? -1 : 1));
}
