/**
 * Captures of a pattern in the lines of a page: numbers for their texts, so that a query looks up each text once, not once a
 * line. They come from the lines (kernels/capture-finder.ts), from columns of split lines (storage/columns/split-captures.ts), or
 * from a cached page (storage/columns/capture-columns.ts).
 */
import type { ValueBytes } from './page-fields.ts';

/** Captures that a query requests. */
export interface CaptureWants {
  /** Identifies the wants: those with equal texts get the same captures. */
  readonly text: string;
  /** Bytes at the start of each line with captures. */
  readonly lead: Buffer;
  /** Literal i ends capture i; the last capture may have no literal. None is empty. */
  readonly literals: readonly Buffer[];
  /** Requested captures, by their number in the pattern. */
  readonly captures: readonly number[];
}

/** Returns wants whose text shows all of them. Literals behind the last capture do not matter. */
export function captureWants({ lead, literals, captures }: Omit<CaptureWants, 'text'>): CaptureWants {
  const sought = literals.slice(0, Math.max(...captures) + 1);
  const text = JSON.stringify([captures, ...[lead, ...sought].map(bytes => bytes.toString('latin1'))]);
  return { text, lead, literals: sought, captures };
}

/** Numbers of the captures in consecutive rows. */
export interface CaptureNumbers {
  /** First row, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /**
   * Number of capture i of the wants in a row: at `i * stride + row - first`. It is 0 if the line has no such capture, -1 if its
   * text has no number. Texts with equal numbers above 0 are equal.
   */
  readonly numbers: Int32Array | Uint16Array;
  readonly stride: number;
  /** What the query stores for each number from 0 on; initially 0. Numbers of other rows may have another list. */
  readonly noted: Int32Array;
}

export interface PageCaptures {
  /** Returns the numbers for a row and some that follow, valid until the next call. */
  numbersFrom(row: number): CaptureNumbers;
  /**
   * Returns the bytes of capture i of the wants in a row whose number is not 0. The result is valid until the next call, its bytes
   * as long as the lines of the page.
   *
   * @param number as `numbersFrom` returns it
   */
  bytesOf(i: number, row: number, number: number): ValueBytes;
}
