/**
 * Splits a page into templates and columns. A template is a line with a mark in place of each variable. A
 * column holds the variables of one key, or of one position among lines with equally many words, in row
 * order, each followed by a zero byte. A line is stored as a plain row if it contains a reserved byte (zero
 * or the mark), has too many variables, or if no template space is left.
 */
import { findVariables, makeVariables } from './find-variables.ts';
import type { Page } from './pages.ts';

export const MARK = 1;
export const END = 0;
/** Rows store their template in 16 bits. */
const MAX_TEMPLATES = 16_383;
const MAX_COLUMNS = 8192;
/** Maximum text of all templates; further lines are plain rows. */
const MAX_TEMPLATE_BYTES = 512 * 1024;
/** Value of `ids` for a plain row. */
export const PLAIN = 0;

interface Template {
  /** Text with marks. */
  readonly text: Buffer;
  readonly columns: readonly number[];
}

export interface SplitPage {
  readonly rows: number;
  /** Template of each row: 0 for a plain row, else its number + 1. */
  readonly ids: Uint16Array;
  readonly templates: readonly Template[];
  readonly columns: readonly Buffer[];
  readonly plainLengths: readonly number[];
  readonly plainLines: Buffer;
}

/** Scratch memory that is reused for each page. */
const VARIABLES = makeVariables();

class Column {
  bytes = Buffer.allocUnsafe(512);
  length = 0;

  add(source: Uint8Array, from: number, to: number): void {
    const need = this.length + to - from + 1;
    if (need > this.bytes.length) {
      const grown = Buffer.allocUnsafe(2 * need);
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    for (let at = from; at < to; at++) this.bytes[this.length++] = source[at];
    this.bytes[this.length++] = END;
  }
}

export function splitPage({ lines, offsets, rows }: Page): SplitPage {
  const ids = new Uint16Array(rows);
  const templates: Template[] = [];
  const known = new Map<string, number>();
  const columns: Column[] = [];
  const columnOfKey = new Map<number, number>();
  const plain: Buffer[] = [];
  let templateBytes = 0;
  let scratch = Buffer.allocUnsafe(64 * 1024);

  for (let row = 0; row < rows; row++) {
    const from = offsets[row];
    const to = offsets[row + 1];
    const template = number(from, to);
    if (template === -1) {
      plain.push(lines.subarray(from, to));
      continue;
    }
    ids[row] = template + 1;
    const { columns: places } = templates[template];
    for (let i = 0; i < VARIABLES.count; i++)
      columns[places[i]].add(lines, VARIABLES.starts[i], VARIABLES.ends[i]);
  }
  return {
    rows,
    ids,
    templates,
    columns: columns.map(column => column.bytes.subarray(0, column.length)),
    plainLengths: plain.map(line => line.length),
    plainLines: Buffer.concat(plain),
  };

  /** Number of the line's template, or -1. */
  function number(from: number, to: number): number {
    if (hasOwnByte(lines, from, to) || !findVariables(lines, from, to, VARIABLES)) return -1;
    if (to - from + 1 > scratch.length) scratch = Buffer.allocUnsafe(2 * (to - from));
    let length = 0;
    let at = from;
    for (let i = 0; i < VARIABLES.count; i++) {
      while (at < VARIABLES.starts[i]) scratch[length++] = lines[at++];
      scratch[length++] = MARK;
      at = VARIABLES.ends[i];
    }
    while (at < to) scratch[length++] = lines[at++];
    const text = scratch.latin1Slice(0, length);
    const found = known.get(text);
    if (found !== undefined) return found;
    if (templates.length === MAX_TEMPLATES || templateBytes + length > MAX_TEMPLATE_BYTES) return -1;
    if (columns.length + VARIABLES.count > MAX_COLUMNS) return -1;
    templateBytes += length;
    templates.push({ text: Buffer.from(scratch.subarray(0, length)), columns: placesOf() });
    known.set(text, templates.length - 1);
    return templates.length - 1;
  }

  /** Columns of the found variables: by key, or by the number of words and the position among them. */
  function placesOf(): number[] {
    let words = 0;
    for (let i = 0; i < VARIABLES.count; i++) if (VARIABLES.keys[i] === 0) words++;
    let word = 0;
    return Array.from({ length: VARIABLES.count }, (_, i) => {
      // Keys have 32 bits, so larger numbers are free.
      const key = VARIABLES.keys[i] || 2 ** 32 + words * 4096 + word++;
      let column = columnOfKey.get(key);
      if (column === undefined) {
        column = columns.push(new Column()) - 1;
        columnOfKey.set(key, column);
      }
      return column;
    });
  }
}

function hasOwnByte(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] <= MARK) return true;
  return false;
}
