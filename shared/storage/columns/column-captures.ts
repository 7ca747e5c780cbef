/** Searches the values of a column of split lines for literals, and numbers the texts between them. Each word is searched once. */
import { CaptureFinder, type PageLines } from '../../base/kernels/capture-finder.ts';
import { columnLines } from '../../base/kernels/column-lines.ts';
import { lineSpace } from '../../base/kernels/line-memory.ts';
import type { NumberedTexts } from '../../base/kernels/literal-finder.ts';
import { ByteReader } from '../codec/byte-io.ts';
import { type ExpectedTable, tableOf } from './capture-table.ts';
import { SPLIT_WORDS, type SplitFrame } from './split-frame.ts';
import { indexesOfWords, startsOfWords } from './split-words.ts';

interface Column {
  readonly frame: SplitFrame;
  /** Number of the column, which has at most one value in a row. */
  readonly column: number;
  readonly bytes: Buffer;
  /** Maximum bytes of all values. */
  readonly maxBytes: number;
}

interface Search {
  /** Literals that each value should have, then the next one, which it should not have, unless it is the last. */
  readonly literals: readonly Buffer[];
  /** Number of literals that each value should have. */
  readonly found: number;
  /** Parts that get numbers: 0 is in front of the first literal, `found` behind the last one. */
  readonly parts: ReadonlySet<number>;
}

/** Parts of values as numbers of texts. */
export interface ColumnParts {
  /** Index of each value among the lists below; undefined if it is the value's own number. */
  readonly indexOf: Uint8Array | undefined;
  /** Number of each part that was requested, by index: that of its text in the list of texts, 0 if there is none. */
  readonly numbers: ReadonlyMap<number, Uint16Array>;
  /** 1 for each index of values with other literals; undefined if all are as they should be. */
  readonly others: Uint8Array | undefined;
}

const NO_LEAD = Buffer.alloc(0);

/**
 * Returns undefined if there are too many texts, or too long ones. Overwrites the line space. Throws CorruptionError.
 * @param texts List to which the texts are added
 */
export function partsOfColumn(
  column: Column,
  { literals, found, parts }: Search,
  texts: TextList,
): ColumnParts | undefined {
  const values = valuesOf(column);
  if (values === undefined) return undefined;
  const { page, indexOf } = values;
  const { rows } = page;
  const captures = [...parts];
  const finder = CaptureFinder.of({ lead: NO_LEAD, literals, captures });
  if (finder?.restart(page) !== true) return undefined;
  let table = tableOf(finder, captures.length, [0, rows], rows, found);
  // Whole values can have numbers without a search for equal ones.
  if (literals.length === 0) table ??= numberedLines(page);
  const base = table && texts.add(table);
  if (table === undefined || base === undefined) return undefined;
  const numbers = new Map<number, Uint16Array>();
  for (const [i, part] of captures.entries()) {
    const list = table.numbers.subarray(i * rows, (i + 1) * rows);
    numbers.set(part, list);
    // The finder gives an empty line no captures, but an empty value is a text.
    const hasEmpty = part === 0 && list.includes(0);
    const empty = hasEmpty ? texts.addText(NO_LEAD) : 0;
    if (empty === undefined) return undefined;
    if (base === 0 && !hasEmpty) continue;
    for (let line = 0; line < rows; line++) list[line] = list[line] === 0 ? empty : list[line] + base;
  }
  return { indexOf, numbers, others: table.others };
}

/** Gives each line a number, equal ones too. An empty one has none. */
function numberedLines({ rows, lines, lineOffsets }: PageLines): ExpectedTable {
  const numbers = new Uint16Array(rows);
  for (let line = 0; line < rows; line++)
    if (lineOffsets[line] < lineOffsets[line + 1]) numbers[line] = line + 1;
  return { numbers, texts: Buffer.from(lines), starts: lineOffsets.slice(), others: undefined };
}

/** Returns the values as lines; words once each. */
function valuesOf({
  frame,
  column,
  bytes,
  maxBytes,
}: Column): { readonly page: PageLines; readonly indexOf: Uint8Array | undefined } | undefined {
  const record = frame.recordOf(column);
  if (record.count === 0 || record.count > frame.rows) return undefined;
  if (record.type !== SPLIT_WORDS) {
    const page = columnLines({ record: frame.rawRecordOf(column), bytes, count: record.count }, maxBytes);
    return page && { page, indexOf: undefined };
  }
  const reader = new ByteReader(bytes);
  const lineOffsets = startsOfWords(record, reader);
  const rows = record.number;
  const words = reader.bytes(lineOffsets[rows]);
  const indexOf = rows > 1 ? indexesOfWords(record, reader) : new Uint8Array(record.count);
  let most = 0;
  for (let i = 0; i < indexOf.length; i++) if (indexOf[i] > most) most = indexOf[i];
  if (reader.remaining > 0 || most >= rows) return undefined;
  const lines = lineSpace().subarray(0, words.length);
  lines.set(words);
  return { page: { rows, lines, lineOffsets }, indexOf };
}

/** Numbers of texts have two bytes. */
const MAX_TEXTS = 0xffff;

/** Texts with numbers from 1 on. */
export class TextList {
  readonly #lists: NumberedTexts[] = [];
  readonly #numbers = new Map<string, number>();
  #count = 0;

  /** Adds texts. Returns how much is added to their numbers, or undefined if there are too many. */
  add(list: NumberedTexts): number | undefined {
    const base = this.#count;
    this.#count += list.starts.length - 1;
    this.#lists.push(list);
    return this.#count <= MAX_TEXTS ? base : undefined;
  }

  /** Returns the number of a text, or undefined if there are too many. */
  addText(text: Buffer): number | undefined {
    const key = text.toString('latin1');
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const base = this.add({ texts: text, starts: Uint32Array.of(0, text.length) });
    if (base !== undefined) this.#numbers.set(key, base + 1);
    return base === undefined ? undefined : base + 1;
  }

  /** Returns all texts, number 1 first. */
  joined(): NumberedTexts {
    const starts = new Uint32Array(this.#count + 1);
    let at = 0;
    let next = 0;
    for (const list of this.#lists) {
      for (let i = 1; i < list.starts.length; i++) starts[++next] = at + list.starts[i];
      at += list.texts.length;
    }
    return { texts: Buffer.concat(this.#lists.map(({ texts }) => texts)), starts };
  }
}
