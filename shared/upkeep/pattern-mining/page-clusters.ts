/**
 * Finds the cluster of each row of a page. If the lines are split into templates and columns, only the first row of each
 * class is read (shared/base/kernels/row-classes.ts). The clusters are those of reading all rows.
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
import { mayHaveMessage, messagePart } from './message-part.ts';
import type { Miner } from './miner.ts';

/** Cluster of rows that have none: empty lines, and rows that do not count. */
export const NO_CLUSTER = -1;

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

export function clustersOf(page: PageLines, miner: Miner, words: LineWords): Int32Array {
  const classed = classesOf(page);
  if (classed !== undefined) return clustersOfClasses(page, classed, miner, words);
  const { lines, lineOffsets, levels, passed } = page;
  const clusterOf = new Int32Array(levels.length).fill(NO_CLUSTER);
  words.begin(lines, lineOffsets);
  miner.beginPage(levels);
  for (let row = 0; row < levels.length; row++) {
    if (passed !== undefined && passed[row] === 1) continue;
    // An empty line has no pattern.
    if (lineOffsets[row] === lineOffsets[row + 1]) continue;
    clusterOf[row] = miner.addRow(words, row);
  }
  return clusterOf;
}

/** Returns `undefined` if all lines must be read. */
function classesOf({ split, passed, levels }: PageLines): ClassedRows | undefined {
  if (split === undefined || passed !== undefined) return undefined;
  if (templateCount(split.frame) > MAX_CLASSED_TEMPLATES) return undefined;
  const messages = mapTemplates(split.frame, mayHaveMessage, messagePart);
  return split.classRows({ messages, levels });
}

function clustersOfClasses(
  page: PageLines,
  { count, classOf, variedIn }: ClassedRows,
  miner: Miner,
  words: LineWords,
): Int32Array {
  const { lineOffsets, levels } = page;
  const clusterOf = new Int32Array(levels.length).fill(NO_CLUSTER);
  const clusterOfClass = new Int32Array(count + 1).fill(NO_CLUSTER);
  const read = readLines(page, classOf);
  words.begin(read.lines, read.lineOffsets);
  miner.beginPage(read.levels);
  let next = 0;
  for (let row = 0; row < levels.length; row++) {
    if (lineOffsets[row] === lineOffsets[row + 1]) continue;
    const found = classOf[row];
    if (found < CLASS_IS_READ) {
      const cluster = clusterOfClass[found];
      miner.addKnown(cluster);
      clusterOf[row] = cluster;
      continue;
    }
    const cluster = miner.addRow(words, next);
    const number = found - CLASS_IS_READ;
    if (number > 0) {
      clusterOfClass[number] = cluster;
      const varied = variedIn(number);
      if (varied.length > 0) {
        words.enter(next, levels[row]);
        miner.vary(words, cluster, varied, lineOffsets[row]);
      }
    }
    clusterOf[row] = cluster;
    next++;
  }
  return clusterOf;
}

/** Copies the lines of the rows to read. */
function readLines(
  { lines, lineOffsets, levels }: PageLines,
  classOf: Uint32Array,
): { readonly lines: Buffer; readonly lineOffsets: Uint32Array; readonly levels: Uint8Array } {
  const rows: number[] = [];
  let bytes = 0;
  for (let row = 0; row < levels.length; row++) {
    if (classOf[row] < CLASS_IS_READ || lineOffsets[row] === lineOffsets[row + 1]) continue;
    rows.push(row);
    bytes += lineOffsets[row + 1] - lineOffsets[row];
  }
  const some = Buffer.allocUnsafe(bytes);
  const offsets = new Uint32Array(rows.length + 1);
  for (const [i, row] of rows.entries())
    offsets[i + 1] = offsets[i] + lines.copy(some, offsets[i], lineOffsets[row], lineOffsets[row + 1]);
  return { lines: some, lineOffsets: offsets, levels: Uint8Array.from(rows, row => levels[row]) };
}
