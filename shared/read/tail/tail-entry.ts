/**
 * An entry as a tail shows it: written once, for all clients that asked the same, because a hundred tails of one query
 * must not cost a hundred times its JSON.
 */
import { formatLabels, type Labels, labelsToObject } from '../../base/model/labels.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import { instantText } from './instant-text.ts';

/** `categorized`: with structured metadata and parsed labels apart. `legacy`: as `/api/prom/tail` shows it. */
export type EntryForm = 'plain' | 'categorized' | 'legacy';

export interface TailEntry {
  readonly timeNs: bigint;
  /** An element of `streams`. */
  readonly json: string;
  /** Of `json` as UTF-8. */
  readonly bytes: number;
  /** What is told where the entry is dropped. */
  readonly labels: Labels;
  /** Of the chunk that it was read from; empty for the lookback. */
  readonly chunkId: string;
}

/** A row of a pipeline, or of an answer, with what its form needs. */
export interface ShownEntry {
  readonly timeNs: bigint;
  readonly line: string;
  /** Of the result stream. */
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

/** Label sets whose text is kept: the rows of a page have few of them, the same objects again and again (pipeline.ts). */
const MAX_KEPT_TEXTS = 256;
/** Longer ones are of parsed labels, which each line has of its own. */
const MAX_KEPT_CHARS = 4096;
const texts = new Map<Labels, string>();

export function labelsJson(labels: Labels): string {
  const known = texts.get(labels);
  if (known !== undefined) return known;
  const text = JSON.stringify(labelsToObject(labels));
  if (text.length > MAX_KEPT_CHARS) return text;
  if (texts.size >= MAX_KEPT_TEXTS) texts.clear();
  texts.set(labels, text);
  return text;
}

/** Collects what a pipeline lets through, in the order of the page. */
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

/** Ascending by time; of equal times in the order of arrival. */
export function sortByTime(entries: TailEntry[]): TailEntry[] {
  return entries.sort((a, b) => (a.timeNs === b.timeNs ? 0 : a.timeNs < b.timeNs ? -1 : 1));
}
