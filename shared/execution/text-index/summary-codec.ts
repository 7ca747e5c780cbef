/**
 * Section of page summaries (docs/dev/format.md#10-page-summaries): a table of all texts, then the columns of each
 * page, whose values and bounds are indexes into the table. The section has one checksum and is read as a
 * whole, about 100 bytes per page.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { ByteReader, ByteWriter } from '../../storage/codec/byte-io.ts';
import type { FieldSummary, NumberRange } from './page-summary.ts';

const SUMMARY_VERSION = 1;
/**
 * Maximum texts of one chunk: 2,000 pages of 24 columns with different bounds. Further columns have no
 * summary.
 */
const MAX_TEXTS = 262_144;

/** Summaries of one page, by column name. */
export type PageSummary = ReadonlyMap<string, FieldSummary>;

export class SummaryWriter {
  readonly #texts = new Map<string, number>();
  readonly #pages = new ByteWriter(4096);
  #count = 0;

  /** Adds the next page. */
  addPage(summaries: readonly FieldSummary[]): void {
    const listed = this.#texts.size < MAX_TEXTS ? summaries : [];
    const writer = this.#pages;
    writer.varint(listed.length);
    for (const { key, values, ranges } of listed) {
      writer.varint(this.#indexOf(key));
      writer.varint(values.length);
      for (const value of values) writer.varint(this.#indexOf(value));
      writer.varint(ranges.length);
      for (const { least, most } of ranges) {
        writer.varint(this.#indexOf(least));
        writer.varint(this.#indexOf(most));
      }
    }
    this.#count++;
  }

  /** Returns the section. Do not use the writer afterward. */
  finish(): Buffer {
    const head = new ByteWriter(4096);
    head.byte(SUMMARY_VERSION);
    head.varint(this.#texts.size);
    for (const text of this.#texts.keys()) head.block(Buffer.from(text));
    head.varint(this.#count);
    return Buffer.concat([head.finish(), this.#pages.finish()]);
  }

  #indexOf(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const index = this.#texts.size;
    this.#texts.set(text, index);
    return index;
  }
}

/**
 * Decodes the section. Throws CorruptionError if it is not for `pages` pages; returns undefined for an
 * unknown version.
 */
export function decodeSummaries(section: Buffer, pages: number): readonly PageSummary[] | undefined {
  const reader = new ByteReader(section);
  if (reader.byte() !== SUMMARY_VERSION) return undefined;
  const texts: string[] = [];
  for (let left = reader.count(1); left > 0; left--) texts.push(reader.block().toString('utf8'));
  const text = (): string => {
    const index = reader.varint();
    if (index >= texts.length) throw broken(`text ${index} of ${texts.length}`);
    return texts[index];
  };
  const found = reader.varint();
  if (found !== pages) throw broken(`${found} pages where the footer has ${pages}`);
  const out: PageSummary[] = [];
  for (let page = 0; page < pages; page++) {
    const ofPage = new Map<string, FieldSummary>();
    for (let left = reader.count(3); left > 0; left--) {
      const key = text();
      const values: string[] = [];
      for (let more = reader.count(1); more > 0; more--) values.push(text());
      const ranges: NumberRange[] = [];
      for (let more = reader.count(2); more > 0; more--) ranges.push({ least: text(), most: text() });
      ofPage.set(key, { key, values, ranges });
    }
    out.push(ofPage);
  }
  if (reader.remaining > 0) throw broken(`${reader.remaining} bytes after the last page`);
  return out;
}

function broken(detail: string): CorruptionError {
  return new CorruptionError(`page summaries: ${detail}`);
}
