/** Captures of the rows of a page, without its lines. */
import type { CaptureFinder } from '../../base/kernels/capture-finder.ts';
import type { NumberedTexts } from '../../base/kernels/literal-finder.ts';
import type { CaptureNumbers, PageCaptures } from '../../base/model/page-captures.ts';
import type { ValueBytes } from '../../base/model/page-fields.ts';

export interface CaptureTable extends NumberedTexts {
  /** For each capture, the number of each row: 0 if it is not set, else 1 + index of its text. */
  readonly numbers: Uint16Array;
}

/** Captures, and lines that are not as expected. */
export interface ExpectedTable extends CaptureTable {
  /** 1 for each row without the expected literals; undefined if there is none. */
  readonly others: Uint8Array | undefined;
}

/**
 * Returns the captures of rows, or undefined if one has no number.
 * @param finder Finder that was restarted
 * @param captures Number of captures that it finds
 * @param spans Start and end of each span of rows
 * @param rows Number of rows of the page
 * @param expected Number of literals that each line must have, if that matters
 */
export function tableOf(
  finder: CaptureFinder,
  captures: number,
  spans: readonly number[],
  rows: number,
  expected?: number,
): ExpectedTable | undefined {
  const numbers = new Uint16Array(captures * rows);
  let others: Uint8Array | undefined;
  for (let span = 0; span < spans.length; span += 2) {
    const spanEnd = spans[span + 1];
    for (let row = spans[span]; row < spanEnd; ) {
      const { first, end: foundEnd, numbers: found, stride } = finder.numbersFrom(row);
      const end = Math.min(foundEnd, spanEnd);
      for (let i = 0; i < captures; i++) {
        const from = i * stride - first;
        const own = found.subarray(from + row, from + end);
        if (own.includes(-1)) return undefined;
        numbers.set(own, i * rows + row);
      }
      if (expected !== undefined) {
        for (let at = row; at < end; at++)
          if (!finder.hasLiterals(at, expected)) (others ??= new Uint8Array(rows))[at] = 1;
      }
      row = end;
    }
  }
  return { numbers, ...finder.texts(), others };
}

/** Returns the captures for one query. */
export function capturesOf(table: CaptureTable, rows: number): PageCaptures {
  return new KnownCaptures(table, rows);
}

class KnownCaptures implements PageCaptures {
  readonly #table: CaptureTable;
  readonly #numbers: CaptureNumbers;
  readonly #found: ValueBytes;

  constructor(table: CaptureTable, rows: number) {
    const { numbers, texts, starts } = table;
    this.#table = table;
    this.#numbers = { first: 0, end: rows, numbers, stride: rows, noted: new Int32Array(starts.length) };
    this.#found = { source: texts, start: 0, end: 0 };
  }

  numbersFrom(): CaptureNumbers {
    return this.#numbers;
  }

  bytesOf(_i: number, _row: number, number: number): ValueBytes {
    const { starts } = this.#table;
    this.#found.start = starts[number - 1];
    this.#found.end = starts[number];
    return this.#found;
  }
}
