/**
 * Host side of assembly/text-terms.ts and term-set.ts: collects the distinct terms of one page or one needle.
 * A page with too many terms records a half, a quarter, and so on of them. A lookup assumes that unrecorded
 * terms are present.
 */
import { type Constant, endOfCall, KernelInstance } from './kernels.ts';

/** Maximum halvings per page. A page of 1 MiB holds at most 2^21 terms, and 2^16 fit without any. */
const MAX_THINNING = 7;
/**
 * Overlap of the parts of a text that is longer than the kernel's memory, bytes. It exceeds the context of
 * any term and the maximum run length that is reported.
 */
const OVERLAP_BYTES = 512;

/** Exports that collect terms. */
export interface TermKernel {
  readonly MAX_TERM_BYTES: Constant;
  readonly MAX_TERM_ROWS: Constant;
  readonly MAX_TERMS_TO_ADD: Constant;
  readonly TERM_BYTES: Constant;
  readonly TERM_LINES: Constant;
  readonly TERM_OFFSETS: Constant;
  readonly TERM_LIST: Constant;
  readonly TERMS_TO_ADD: Constant;
  addTerms(count: number): void;
  clearTerms(): void;
  longestTermRun(): number;
  scanTerms(rows: number, startKnown: number, endKnown: number): void;
  termCount(): number;
  termThinning(): number;
}

export class TermSet {
  readonly #run: TermKernel;
  readonly #maxBytes: number;
  readonly #maxRows: number;
  readonly #lines: Buffer;
  readonly #offsets: Uint32Array;
  readonly #list: Uint32Array;
  readonly #toAdd: Uint32Array;
  /** Memory that the kernel uses, bytes. */
  readonly memoryBytes: number;
  #added = 0;

  /** @param instance Instance in which another kernel leaves the memory of terms free */
  constructor(instance = new KernelInstance<TermKernel>()) {
    const { run } = instance;
    instance.reserve(run.TERM_BYTES.value);
    const { bytes, words } = instance;
    this.#run = run;
    this.memoryBytes = run.TERM_BYTES.value;
    this.#maxBytes = run.MAX_TERM_BYTES.value;
    this.#maxRows = run.MAX_TERM_ROWS.value;
    this.#lines = bytes.subarray(run.TERM_LINES.value);
    this.#offsets = words.subarray(run.TERM_OFFSETS.value >>> 2);
    this.#list = words.subarray(run.TERM_LIST.value >>> 2);
    this.#toAdd = words.subarray(
      run.TERMS_TO_ADD.value >>> 2,
      (run.TERMS_TO_ADD.value >>> 2) + run.MAX_TERMS_TO_ADD.value,
    );
  }

  /** Begins a page or a needle. */
  clear(): void {
    this.#added = 0;
    this.#run.clearTerms();
  }

  /** Adds the terms of every line; `lineOffsets` holds `rows + 1` offsets in `lines`. */
  addLines(lines: Uint8Array, lineOffsets: Uint32Array, rows: number): void {
    this.#settle();
    const limits = { maxRows: this.#maxRows, maxBytes: this.#maxBytes };
    for (let row = 0; row < rows; ) {
      const first = row;
      const base = lineOffsets[first];
      row = endOfCall(lineOffsets, first, rows, limits);
      if (row === first) {
        this.#addCut(lines.subarray(base, lineOffsets[++row]), true, true);
        continue;
      }
      this.#lines.set(lines.subarray(base, lineOffsets[row]));
      for (let i = first; i <= row; i++) this.#offsets[i - first] = lineOffsets[i] - base;
      this.#run.scanTerms(row - first, 1, 1);
    }
  }

  /**
   * Adds the terms that every line with this text contains. With `endsAreKnown`, a run of letters and digits
   * that touches an end of the text also ends there in the line.
   */
  addText(text: Uint8Array, endsAreKnown: boolean): void {
    this.#settle();
    this.#addCut(text, endsAreKnown, endsAreKnown);
  }

  #addCut(text: Uint8Array, startIsKnown: boolean, endIsKnown: boolean): void {
    for (let from = 0; ; from += this.#maxBytes - OVERLAP_BYTES) {
      const to = Math.min(from + this.#maxBytes, text.length);
      this.#lines.set(text.subarray(from, to));
      this.#offsets[0] = 0;
      this.#offsets[1] = to - from;
      const isLast = to === text.length;
      this.#run.scanTerms(1, Number(startIsKnown && from === 0), Number(endIsKnown && isLast));
      if (isLast) return;
    }
  }

  /** Adds a term that the caller computed. */
  add(term: number): void {
    this.#toAdd[this.#added++] = term;
    if (this.#added === this.#toAdd.length) this.#settle();
  }

  addAll(terms: Uint32Array): void {
    this.#settle();
    for (let from = 0; from < terms.length; from += this.#toAdd.length) {
      const part = terms.subarray(from, from + this.#toAdd.length);
      this.#toAdd.set(part);
      this.#run.addTerms(part.length);
    }
  }

  #settle(): void {
    if (this.#added > 0) this.#run.addTerms(this.#added);
    this.#added = 0;
  }

  /** Distinct terms in order of insertion; valid until more are added. */
  get terms(): Uint32Array {
    this.#settle();
    return this.#list.subarray(0, this.#run.termCount());
  }

  get thinning(): number {
    this.#settle();
    return Math.min(this.#run.termThinning(), MAX_THINNING);
  }

  /** Whether even the maximum thinning cannot hold the terms; the terms then cannot describe the page. */
  get overflowed(): boolean {
    this.#settle();
    return this.#run.termThinning() > MAX_THINNING;
  }

  /**
   * Length of the longest run of letters and digits that contains a digit, bytes. If it exceeds 512, the
   * value is at least 512.
   */
  get longestRun(): number {
    return this.#run.longestTermRun();
  }
}

let ofThread: TermSet | undefined;

/**
 * Returns the TermSet that all code of this thread shares. Each user clears it, and finishes before it awaits
 * anything.
 */
export function termSetOfThread(): TermSet {
  ofThread ??= new TermSet();
  return ofThread;
}
