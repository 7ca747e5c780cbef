/**
 * Finds the cluster of each row of a page. If the lines are split into templates and columns, only the first row of each
 * class is read (shared/base/kernels/row-classes.ts), and none if the class of an earlier page has all words that vary. The clusters are
 * those of reading all rows.
 */
import type { LineWords } from '../../base/kernels/line-words.ts';
import {
  CLASS_IS_READ,
  type ClassedRows,
  mapTemplates,
  templateCount,
} from '../../base/kernels/row-classes.ts';
import type { SplitLines } from '../../base/kernels/split-lines.ts';
import { MAX_CLASSED_TEMPLATES } from './bounds.ts';
import { LEVEL_BITS } from './levels.ts';
import { mayHaveMessage, messagePart } from './message-part.ts';
import type { Miner } from './miner.ts';

/** Bits of a row's class without CLASS_IS_READ. */
const OWN_CLASS = 0x7fff_ffff;

export interface PageLines {
  readonly lines: Buffer;
  /** Line i is between offsets i and i + 1. */
  readonly lineOffsets: Uint32Array;
  /** Level of each row, as a number of LEVELS. */
  readonly levels: Uint8Array;
  /** 1 for rows to skip; `undefined` if all rows count. */
  readonly passed?: Uint8Array;
  /** Split lines of the page, which was split last. */
  readonly split?: SplitLines | undefined;
}

export type RowNumbers = Uint8Array | Uint16Array | Uint32Array;

/** Number of each row of a page, which stands for its cluster and level. */
export interface NumberedRows {
  /** 0 for empty lines, and rows that do not count. */
  readonly numbers: RowNumbers;
  /** `cluster << LEVEL_BITS | level` of each number. The first is not used. */
  readonly keys: readonly number[];
}

/** Numbers clusters and levels in the order of their first rows. */
class Numbering {
  readonly keys = [0];
  readonly #first: number;
  #numberOf = new Uint32Array(1024);

  /** @param first number of the first cluster */
  constructor(first: number) {
    this.#first = first;
  }

  numberOf(cluster: number, level: number): number {
    const slot = ((cluster - this.#first) << LEVEL_BITS) | level;
    if (slot >= this.#numberOf.length) {
      const more = new Uint32Array(2 * (slot + 1));
      more.set(this.#numberOf);
      this.#numberOf = more;
    }
    const known = this.#numberOf[slot];
    if (known > 0) return known;
    const number = this.keys.push(cluster * (1 << LEVEL_BITS) + level) - 1;
    this.#numberOf[slot] = number;
    return number;
  }
}

export function clustersOf(page: PageLines, miner: Miner, words: LineWords): NumberedRows {
  const classed = classesOf(page, miner);
  if (classed !== undefined) return clustersOfClasses(page, classed, miner, words);
  const { lines, lineOffsets, levels, passed } = page;
  const all = new Uint32Array(levels.length);
  const numbering = new Numbering(miner.first);
  words.begin(lines, lineOffsets);
  miner.beginPage(levels);
  for (let row = 0; row < levels.length; row++) {
    if (passed !== undefined && passed[row] === 1) continue;
    // An empty line has no pattern.
    if (lineOffsets[row] === lineOffsets[row + 1]) continue;
    all[row] = numbering.numberOf(miner.addRow(words, row), levels[row]);
  }
  const { keys } = numbering;
  const numbers = rowNumbers(keys.length, all.length);
  numbers.set(all);
  return { numbers, keys };
}

/** Returns `undefined` if all lines must be read. */
function classesOf({ split, passed, levels }: PageLines, miner: Miner): ClassedRows | undefined {
  if (split === undefined || passed !== undefined) return undefined;
  if (templateCount(split.frame) > MAX_CLASSED_TEMPLATES) return undefined;
  const messages = mapTemplates(split.frame, mayHaveMessage, messagePart);
  return split.classRows({ messages, levels, known: miner.clusterOfClass });
}

function clustersOfClasses(
  page: PageLines,
  { count, classOf, knownAs, variedIn, varied }: ClassedRows,
  miner: Miner,
  words: LineWords,
): NumberedRows {
  const { lineOffsets, levels } = page;
  const rows = levels.length;
  const numbering = new Numbering(miner.first);
  /** Number of each class, and lines that are not read. */
  const numberOfClass = new Uint32Array(count + 1);
  const linesOfClass = new Int32Array(count + 1);
  /** Rows to read, their numbers, and lines before each of them. */
  const toRead: number[] = [];
  const numberOfRead: number[] = [];
  const linesBefore: number[] = [];
  let empty = 0;
  for (let row = 0; row < rows; row++) {
    const found = classOf[row];
    if (found < CLASS_IS_READ) continue;
    const own = found - CLASS_IS_READ;
    const cluster = own > 0 && knownAs[own] < CLASS_IS_READ ? miner.clusterOfClass[knownAs[own]] : undefined;
    if (cluster !== undefined) numberOfClass[own] = numbering.numberOf(cluster, levels[row]);
    else if (lineOffsets[row] === lineOffsets[row + 1]) empty++;
    else {
      toRead.push(row);
      linesBefore.push(row - empty);
    }
  }
  const read = readLines(page, toRead);
  words.begin(read.lines, read.lineOffsets);
  miner.beginPage(read.levels);
  let lines = 0;
  let isKept = true;
  for (const [i, row] of toRead.entries()) {
    miner.addKnown(linesBefore[i] - lines);
    lines = linesBefore[i] + 1;
    const cluster = miner.addRow(words, i);
    const number = numbering.numberOf(cluster, levels[row]);
    numberOfRead.push(number);
    const own = classOf[row] - CLASS_IS_READ;
    if (own === 0) continue;
    numberOfClass[own] = number;
    linesOfClass[own] = -1;
    isKept = miner.keepCluster(knownAs[own] % CLASS_IS_READ, cluster) && isKept;
    const some = variedIn(own);
    if (some === 0) continue;
    words.enter(i, levels[row]);
    miner.vary(words, cluster, { offsets: varied, count: some, from: lineOffsets[row] });
  }
  miner.addKnown(rows - empty - lines);
  if (!isKept) miner.forgetClasses();
  const { keys } = numbering;
  const numbers = rowNumbers(keys.length, rows);
  for (let row = 0; row < rows; row++) {
    const own = classOf[row] & OWN_CLASS;
    numbers[row] = numberOfClass[own];
    linesOfClass[own]++;
  }
  for (const [i, row] of toRead.entries()) numbers[row] = numberOfRead[i];
  for (let own = 1; own <= count; own++) {
    const number = numberOfClass[own];
    if (number > 0 && linesOfClass[own] > 0)
      miner.addToCluster(Math.floor(keys[number] / (1 << LEVEL_BITS)), linesOfClass[own]);
  }
  return { numbers, keys };
}

/** Returns memory for the numbers of rows, which are kept until the end of the chunk. */
function rowNumbers(count: number, rows: number): RowNumbers {
  if (count <= 0x100) return new Uint8Array(rows);
  return count <= 0x10000 ? new Uint16Array(rows) : new Uint32Array(rows);
}

/** Copies the lines of the rows to read. */
function readLines(
  { lines, lineOffsets, levels }: PageLines,
  rows: readonly number[],
): { readonly lines: Buffer; readonly lineOffsets: Uint32Array; readonly levels: Uint8Array } {
  const offsets = new Uint32Array(rows.length + 1);
  for (const [i, row] of rows.entries())
    offsets[i + 1] = offsets[i] + lineOffsets[row + 1] - lineOffsets[row];
  const some = Buffer.allocUnsafe(offsets[rows.length]);
  for (const [i, row] of rows.entries()) lines.copy(some, offsets[i], lineOffsets[row], lineOffsets[row + 1]);
  return { lines: some, lineOffsets: offsets, levels: Uint8Array.from(rows, row => levels[row]) };
}
