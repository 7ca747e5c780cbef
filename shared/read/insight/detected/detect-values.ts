/**
 * Collects the distinct values of one field (docs/dev/wire-format.md#response-of-detected-fields): of
 * structured metadata, of labels that the query parsed, and of the lines themselves. Sizes from lines are
 * shown in their short form, metadata unchanged.
 *
 * Pitfall: an entry that a field column answered (RangeQuery.field) has an empty line. Its field is among the
 * parsed labels.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareUtf8 } from '../../../base/model/bytes.ts';
import { labelValue } from '../../../base/model/labels.ts';
import { PARSED } from '../../../execution/pipeline/row-labels.ts';
import type { LogStream } from '../../query/log-query.ts';
import { MAX_DETECTED_VALUES } from './bounds.ts';
import type { DetectOptions } from './detect-fields.ts';
import { isFieldName } from './field-table.ts';
import { type LinePage, linePages } from './line-pages.ts';
import { LineParser } from './line-parser.ts';
import { shownValue } from './value-type.ts';

interface DetectedValues {
  /** Ascending. */
  readonly values: readonly string[];
  /** Effective limit on the number of values. The first ones found are returned. */
  readonly limit: number;
}

/**
 * Throws the signal's reason.
 *
 * @param streams result of a log query with categorized labels
 */
export async function detectValues(
  streams: readonly LogStream[],
  name: string,
  { limit, signal }: DetectOptions,
): Promise<DetectedValues> {
  const values = new FieldValueCollector(name, Math.min(limit, MAX_DETECTED_VALUES));
  for (const stream of isFieldName(name) ? streams : []) {
    for (const page of linePages(stream)) {
      values.addPage(page);
      if (values.isFull) return values.sorted();
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return values.sorted();
}

class FieldValueCollector {
  readonly #name: string;
  readonly #limit: number;
  readonly #found = new Set<string>();
  /** Values of lines that were processed. Most repeat, and detecting a size is slow. */
  readonly #seen = new Set<string>();
  readonly #parser = new LineParser();

  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#found.size >= this.#limit;
  }

  sorted(): DetectedValues {
    return { values: [...this.#found].sort(compareUtf8), limit: this.#limit };
  }

  addPage({ page, entries }: LinePage): void {
    this.#parser.enter(page);
    for (let row = 0; row < entries.length && !this.isFull; row++) {
      const { structuredMetadata = [], parsed = [] } = entries[row];
      const stored = labelValue(structuredMetadata, this.#name);
      if (stored !== undefined) this.#add(stored);
      const asked = labelValue(parsed, this.#name);
      if (asked !== undefined) this.#addOfLine(asked);
      this.#parser.parse(row);
      const { labels } = this.#parser;
      // Looked up each time, because the parser forgets names if there are too many.
      const id = labels.intern(this.#name);
      if (labels.lookup(id) === PARSED) this.#addOfLine(labels.valueText(labels.valueIndexOf(id)));
    }
  }

  #addOfLine(value: string): void {
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    this.#add(shownValue(value));
  }

  #add(value: string): void {
    if (!this.isFull) this.#found.add(value);
  }
}
