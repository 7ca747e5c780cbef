/**
 * Sorts lines into clusters, one line after the other. Uses a tree of fixed depth: the line's structure, its
 * first word of text, and the clusters to compare with. Most lines do not need it: their shape leads to a
 * cluster. Their bytes are compared with it, so every line is counted in a cluster that matches it. Lines that
 * repeat an earlier one of the page, except for values, are compared with that line by the kernel.
 *
 *     line → shape known? → its cluster              (compares bytes)
 *                 no → structure → first word → most similar cluster, if similar enough; else a new one
 */
import { type LineWords, WORD_TEXT } from '../../base/kernels/line-words.ts';
import {
  FIRST_CLUSTERS,
  FIRST_WORDS,
  LINES_PER_CLUSTER,
  MAX_FIRST_WORDS,
  MAX_LEAF_CLUSTERS,
  SHAPE_SLOTS,
} from './bounds.ts';
import { type Cluster, hasGaps, matchesKnown, newCluster, widen } from './cluster.ts';
import { isSimilar } from './similarity.ts';

interface Structure {
  readonly leaves: Map<number, Cluster[]>;
  /** Clusters of first words beyond the limit. */
  readonly others: Cluster[];
}

/** Words of a line that are not the same in all lines like it. */
interface VariedWords {
  /** Where the words begin, ascending, or bytes in them. */
  readonly offsets: Uint32Array;
  readonly count: number;
  /** Start of the line in the same count. */
  readonly from: number;
}

const NO_CLUSTERS: readonly Cluster[] = Object.freeze([]);
const SLOT_MASK = SHAPE_SLOTS - 1;
/** Slots that a shape may have. Until all of them are taken, no line is in another cluster because its shape was forgotten. */
const NEAR_SLOTS = 8;
const NO_CLUSTER = -1;

export class Miner {
  /** Number of the first cluster. */
  readonly first: number;
  readonly clusters: Cluster[] = [];
  /** Cluster of each class of rows that was read, by the number that shared/base/kernels/row-classes.ts gave it. */
  clusterOfClass: number[] = [];
  readonly #structures = new Map<number, Structure>();
  readonly #shapes = new Int32Array(SHAPE_SLOTS);
  /** Index of the cluster plus one; 0 is an empty slot. */
  readonly #clusterOfSlot = new Int32Array(SHAPE_SLOTS);

  #lines = 0;
  #groups: Uint8Array = new Uint8Array(0);
  /** Cluster of each row of the page that was read word by word. */
  #clusterOfRow = new Int32Array(0);

  /** @param first number of the first cluster */
  constructor(first = 0) {
    this.first = first;
  }

  /** Counts the line and returns the number of its cluster. May cut the words of the line. */
  add(words: LineWords): number {
    this.#lines++;
    return this.#assign(words);
  }

  /**
   * Begins a page, whose rows are added in order.
   * @param groups group of each row
   */
  beginPage(groups: Uint8Array): void {
    this.#groups = groups;
    if (this.#clusterOfRow.length < groups.length) this.#clusterOfRow = new Int32Array(groups.length);
    this.#clusterOfRow.fill(NO_CLUSTER);
  }

  /**
   * Counts a row of the page and returns the number of its cluster: that of `add`. A row that repeats an earlier one, as
   * far as the cluster is concerned, is not read word by word.
   */
  addRow(words: LineWords, row: number): number {
    const groups = this.#groups;
    const repeated = words.repeatedRow(row);
    const known = groups[repeated] === groups[row] ? this.#clusterOfRow[repeated] : NO_CLUSTER;
    if (known !== NO_CLUSTER && this.#addRepeat(words, row, known)) return known;
    words.enter(row, groups[row]);
    const cluster = this.add(words);
    this.#clusterOfRow[row] = cluster;
    return cluster;
  }

  /** Counts lines whose cluster is known, before the next line is added. */
  addKnown(lines: number): void {
    this.#lines += lines;
  }

  /** Counts lines of `addKnown` in their cluster. */
  addToCluster(cluster: number, lines: number): void {
    this.clusters[cluster - this.first].lines += lines;
  }

  /**
   * Keeps the cluster of a class whose row was added last.
   * @param number 0 for a class that is not remembered
   * @returns false if the cluster is not that of all rows of the class: call `forgetClasses` after the page
   */
  keepCluster(number: number, cluster: number): boolean {
    if (number === 0) return true;
    const before = this.clusterOfClass[number];
    this.clusterOfClass[number] = cluster;
    // The line may have been cut, or its shape was forgotten.
    return this.#firstWords() === Infinity && (before === undefined || before === cluster);
  }

  forgetClasses(): void {
    this.clusterOfClass = [];
  }

  /**
   * Makes words of a cluster variable.
   * @param words a line of the cluster
   */
  vary(words: LineWords, cluster: number, { offsets, count, from }: VariedWords): void {
    const { fixed } = this.clusters[cluster - this.first];
    const { end, first } = words;
    const shift = words.from - from;
    let word = 0;
    for (let i = 0; i < count; i++) {
      // The last word of a cluster includes those that were cut.
      while (word < fixed.length - 1 && end[first + word] <= offsets[i] + shift) word++;
      fixed[word] = 0;
    }
  }

  /** Returns false if `add` would search for the cluster, because another line took its slot. */
  #addRepeat(words: LineWords, row: number, cluster: number): boolean {
    const shape = words.shapeOf(row, this.#groups[row]);
    const slot = this.#slotOf(shape);
    const index = cluster - this.first;
    if (this.#shapes[slot] !== shape || this.#clusterOfSlot[slot] !== index + 1) return false;
    const known = this.clusters[index];
    words.clearVaried(row, known.fixed);
    this.#lines++;
    known.lines++;
    return true;
  }

  #assign(words: LineWords): number {
    const slot = this.#slotOf(words.shape);
    if (this.#shapes[slot] === words.shape && this.#clusterOfSlot[slot] > 0) {
      const known = this.clusters[this.#clusterOfSlot[slot] - 1];
      if (matchesKnown(known, words)) {
        known.lines++;
        return known.id;
      }
    }
    const cluster = this.#find(words);
    if (cluster === undefined) {
      words.cut(this.#firstWords());
      return this.#assign(words);
    }
    cluster.lines++;
    this.#shapes[slot] = words.shape;
    this.#clusterOfSlot[slot] = cluster.id - this.first + 1;
    return cluster.id;
  }

  /** Returns the slot of a shape: the one that has it, a free one, or that of another shape if too many are near. */
  #slotOf(shape: number): number {
    for (let i = 0; i < NEAR_SLOTS; i++) {
      const slot = (shape + i) & SLOT_MASK;
      if (this.#clusterOfSlot[slot] === 0 || this.#shapes[slot] === shape) return slot;
    }
    return shape & SLOT_MASK;
  }

  /** `undefined` if no cluster is similar, and there were too many such lines. */
  #find(words: LineWords): Cluster | undefined {
    const leaf = this.#leafOf(words) ?? NO_CLUSTERS;
    let best: Cluster | undefined;
    let bestEqual = -1;
    let bestText = 0;
    for (const cluster of leaf) {
      if (!hasGaps(cluster, words)) continue;
      const { hash, kind, fixed } = cluster;
      let equal = 0;
      let text = 0;
      for (let i = 0; i < fixed.length; i++) {
        const word = words.first + i;
        if (words.kind[word] !== WORD_TEXT && (kind[i] !== WORD_TEXT || fixed[i] === 0)) continue;
        text++;
        if (fixed[i] === 1 && hash[i] === words.hash[word]) equal++;
      }
      if (equal > bestEqual) {
        best = cluster;
        bestEqual = equal;
        bestText = text;
      }
    }
    if (best !== undefined && (isSimilar(bestEqual, bestText) || leaf.length >= MAX_LEAF_CLUSTERS)) {
      widen(best, words);
      return best;
    }
    if (words.count > this.#firstWords() + 1) return undefined;
    const cluster = newCluster(this.first + this.clusters.length, words);
    this.clusters.push(cluster);
    this.#newLeafOf(words).push(cluster);
    return cluster;
  }

  /** Number of words that a line without a similar cluster keeps. Unlimited while such lines are few. */
  #firstWords(): number {
    const earned = FIRST_CLUSTERS + this.#lines / LINES_PER_CLUSTER;
    const share = this.clusters.length / earned;
    return share < 1 ? Infinity : FIRST_WORDS.find(({ upTo }) => share < upTo)!.words;
  }

  /** `undefined` if no line had the structure and first word. */
  #leafOf(words: LineWords): Cluster[] | undefined {
    const structure = this.#structures.get(words.skeleton);
    if (structure === undefined) return undefined;
    const { leaves, others } = structure;
    return leaves.get(firstWordOf(words)) ?? (leaves.size >= MAX_FIRST_WORDS ? others : undefined);
  }

  #newLeafOf(words: LineWords): Cluster[] {
    const known = this.#leafOf(words);
    if (known !== undefined) return known;
    let structure = this.#structures.get(words.skeleton);
    if (structure === undefined) {
      structure = { leaves: new Map(), others: [] };
      this.#structures.set(words.skeleton, structure);
    }
    const leaf: Cluster[] = [];
    structure.leaves.set(firstWordOf(words), leaf);
    return leaf;
  }
}

/** Hash of the first word of text; 0 without one. */
function firstWordOf({ kind, hash, first, count }: LineWords): number {
  for (let i = first; i < first + count; i++) if (kind[i] === WORD_TEXT) return hash[i];
  return 0;
}
