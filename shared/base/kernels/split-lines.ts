/**
 * Host side of assembly/split-lines.ts: splits the lines of a page into templates and columns. join-lines.ts
 * is the reverse, and docs/dev/format.md describes the bytes.
 */
import { type Constant, KernelInstance } from './kernels.ts';
import { type ClassedRows, type ClassKernel, type ClassOptions, classRows } from './row-classes.ts';
import { type TermKernel, TermSet } from './term-set.ts';

/** Lines of a page, with `rows + 1` offsets that start at 0. */
interface LinesOfPage {
  readonly lines: Uint8Array;
  readonly lineOffsets: Uint32Array;
  readonly rows: number;
  /** Time of day of each row, ns. Lines that show it take less. */
  readonly times?: Float64Array | undefined;
}

interface SplitKernel extends ClassKernel, TermKernel {
  readonly COLUMN_ENDS: Constant;
  readonly SORTED_SPANS: Constant;
  readonly MAX_SPLIT_BYTES: Constant;
  readonly MAX_SPLIT_ROWS: Constant;
  readonly SPLIT_LINES: Constant;
  readonly SPLIT_OFFSETS: Constant;
  readonly SPLIT_OUT: Constant;
  readonly SPLIT_OUT_BYTES: Constant;
  readonly SPLIT_TIMES: Constant;
  splitFrame(): number;
  splitPageLines(rows: number, isTimed: number): number;
  scanSplitTerms(): number;
}

/** Split page: its frame, then its columns. They are valid until the next page is split. */
export interface SplitLines {
  readonly frame: Buffer;
  readonly columns: Uint8Array;
  /** Returns start and size of each value of a column, in the lines of the page, by rows. */
  spansOf(column: number): Uint32Array;
  /**
   * Returns the terms of the lines, found in templates and columns (assembly/split-terms.ts). Returns undefined if lines must be
   * scanned instead: one is too long, or none has a token. More terms may be added.
   */
  termsOfLines(): TermSet | undefined;
  /** Groups the rows for pattern mining. */
  classRows(options: ClassOptions): ClassedRows;
}

let splitting: KernelInstance<SplitKernel> | undefined;
let termSet: TermSet | undefined;

/** Splits a page. Returns undefined if it is too large or has too many templates. */
export function splitLines({ lines, lineOffsets, rows, times }: LinesOfPage): SplitLines | undefined {
  splitting ??= new KernelInstance();
  const { run } = splitting;
  if (lines.length > run.MAX_SPLIT_BYTES.value || rows > run.MAX_SPLIT_ROWS.value) return undefined;
  splitting.reserve(run.SPLIT_OUT.value + run.SPLIT_OUT_BYTES.value);
  const { bytes, words } = splitting;
  bytes.set(lines, run.SPLIT_LINES.value);
  words.set(lineOffsets.subarray(0, rows + 1), run.SPLIT_OFFSETS.value >>> 2);
  if (times !== undefined) new Float64Array(bytes.buffer, run.SPLIT_TIMES.value, rows).set(times);
  const end = run.splitPageLines(rows, times === undefined ? 0 : 1);
  if (end === 0) return undefined;
  const frame = run.splitFrame();
  const endOf = (column: number) => words[(run.COLUMN_ENDS.value >>> 2) + column];
  const spansAt = run.SORTED_SPANS.value >>> 2;
  const kernel = splitting;
  return {
    frame: bytes.subarray(frame, end),
    classRows: options => classRows(kernel, options),
    columns: bytes.subarray(run.SPLIT_OUT.value, frame),
    termsOfLines: () => {
      termSet ??= new TermSet(kernel);
      termSet.clear();
      return run.scanSplitTerms() === 1 ? termSet : undefined;
    },
    spansOf: column => {
      const from = column === 0 ? 0 : endOf(column - 1);
      return words.subarray(spansAt + 2 * from, spansAt + 2 * endOf(column));
    },
  };
}

/** Returns all memory that splitting uses, for tests, bytes. */
export function splitMemoryBytes(): number {
  splitting ??= new KernelInstance();
  return splitting.run.SPLIT_OUT.value + splitting.run.SPLIT_OUT_BYTES.value;
}
