/**
 * Builds the patterns of one chunk: mines its pages in order and encodes the section. Every line is counted.
 * Templates of lines without similar ones are stored only while they are a small part of the chunk.
 *
 * Lines are counted at the end, because a cluster may become wider until the last page.
 */

import { lineWordsOfThread } from '../../base/kernels/line-words.ts';
import { ByteWriter } from '../../storage/codec/byte-io.ts';
import {
  DICTIONARY_SHARE,
  MAX_CLUSTERS,
  MAX_SECTION_BYTES,
  MAX_TEMPLATES,
  MIN_DICTIONARY_BYTES,
} from './bounds.ts';
import { templateBytes } from './cluster.ts';
import { joinAll } from './join.ts';
import { LEVEL_BITS } from './levels.ts';
import { Miner } from './miner.ts';
import { clustersOf, type PageLines } from './page-clusters.ts';
import {
  bytesOfRows,
  CountMemory,
  type TimedRows,
  type UncountedRows,
  uncountedRows,
  writeCounts,
} from './page-counts.ts';
import { type CountGroup, encodeSection, type PatternSection, readRuns, writeRun } from './section-codec.ts';

/** Templates of fewer lines may be joined into one with an open end. */
const RARE_LINES = 4;
const NO_TEMPLATE = -1;

/** Rows of a page to mine. */
export type MinedRows = PageLines & TimedRows;

export class PatternBuilder {
  #miner = new Miner();
  /** Number of clusters of earlier miners. */
  #done = 0;
  /** Template number by cluster number. */
  readonly #templateOf: number[] = [];
  readonly #templates = new Map<string, number>();
  /** Pages in order: rows to count, or counts by template number. */
  readonly #parts: (UncountedRows | Buffer)[] = [];
  #partBytes = 0;
  #dictionaryBytes = 0;
  #lineBytes = 0;
  #isTooLarge = false;

  /** Mines the next page. */
  addPage(page: MinedRows): void {
    const { lineOffsets } = page;
    const rows = uncountedRows(page, clustersOf(page, this.#miner, lineWordsOfThread()));
    this.#lineBytes += lineOffsets[lineOffsets.length - 1] - lineOffsets[0];
    this.#addPart(rows, bytesOfRows(rows));
    if (this.#miner.clusters.length >= MAX_CLUSTERS) this.#endMiner();
  }

  /** Copies the part of a page that is copied unchanged. Throws CorruptionError. */
  copyPage({ templates, pages }: PatternSection, page: number): void {
    const writer = new ByteWriter(1024);
    let before = 0;
    for (const { run, widthS, groups } of readRuns(pages[page])) {
      const named = groups.flatMap(({ key, ...counts }) => {
        const template = this.#templateNumber(templates[key >>> LEVEL_BITS], Infinity);
        return template < 0 ? [] : [{ ...counts, key: keyOf(template, key) }];
      });
      writeRun(writer, run - before, widthS, named);
      before = run;
    }
    const part = writer.finish();
    this.#addPart(part, part.length);
  }

  /** Bytes of the section; `undefined` if it is empty or too large. */
  finish(): Buffer | undefined {
    const section = this.section();
    return section && encodeSection(section.templates, section.pages);
  }

  /** The section in its decoded form. */
  section(): Omit<PatternSection, 'bytes'> | undefined {
    this.#endMiner();
    if (this.#isTooLarge || this.#templates.size === 0) return undefined;
    const used = new Map<number, number>();
    const memory = new CountMemory();
    const pages = this.#parts.map(part =>
      Buffer.isBuffer(part) ? renumbered(part, used) : this.#counted(part, used, memory),
    );
    const keys = [...this.#templates.keys()];
    return { templates: Array.from(used.keys(), number => keys[number]), pages };
  }

  #addPart(part: UncountedRows | Buffer, bytes: number): void {
    this.#partBytes += bytes;
    if (this.#partBytes > MAX_SECTION_BYTES) this.#isTooLarge = true;
    if (this.#isTooLarge) this.#parts.length = 0;
    else this.#parts.push(part);
  }

  /** Converts the clusters to templates, and starts with none. */
  #endMiner(): void {
    const { clusters } = this.#miner;
    const found = clusters.map(cluster => {
      const { group, lines } = cluster;
      return { key: templateBytes(cluster).latin1Slice(), group, lines };
    });
    const joined = joinAll(found, RARE_LINES);
    const linesOfKey = new Map<string, number>();
    for (let i = 0; i < joined.length; i++) {
      linesOfKey.set(joined[i], (linesOfKey.get(joined[i]) ?? 0) + clusters[i].lines);
    }
    const budget = Math.max(MIN_DICTIONARY_BYTES, this.#lineBytes * DICTIONARY_SHARE);
    // Starts with the templates of most lines, so that only templates of single lines are dropped.
    const numbers = new Map<string, number>();
    for (const [key] of [...linesOfKey].sort((a, b) => b[1] - a[1])) {
      numbers.set(key, this.#templateNumber(key, budget));
    }
    for (let i = 0; i < joined.length; i++) this.#templateOf[this.#done + i] = numbers.get(joined[i])!;
    this.#done += clusters.length;
    this.#miner = new Miner(this.#done);
  }

  #templateNumber(key: string, budgetBytes: number): number {
    const known = this.#templates.get(key);
    if (known !== undefined) return known;
    if (this.#dictionaryBytes + key.length > budgetBytes || this.#templates.size >= MAX_TEMPLATES)
      return NO_TEMPLATE;
    const number = this.#templates.size;
    this.#templates.set(key, number);
    this.#dictionaryBytes += key.length;
    return number;
  }

  #counted(rows: UncountedRows, used: Map<number, number>, memory: CountMemory): Buffer {
    const writer = new ByteWriter(1024);
    const keyOfCluster = (key: number) => {
      const template = this.#templateOf[Math.floor(key / (1 << LEVEL_BITS))];
      return template === NO_TEMPLATE ? NO_TEMPLATE : keyOf(numberIn(used, template), key);
    };
    writeCounts(writer, rows, keyOfCluster, memory);
    return writer.finish();
  }
}

/** Renumbers the used templates of a copied page in the order of their first use. */
function renumbered(part: Buffer, used: Map<number, number>): Buffer {
  const writer = new ByteWriter(part.length);
  let before = 0;
  for (const { run, widthS, groups } of readRuns(part)) {
    const byKey = new Map<number, CountGroup>();
    for (const { key, buckets, lines } of groups) {
      const named = keyOf(numberIn(used, Math.floor(key / (1 << LEVEL_BITS))), key);
      const known = byKey.get(named);
      byKey.set(
        named,
        known === undefined ? { key: named, buckets, lines } : merged(known, { buckets, lines }),
      );
    }
    if (byKey.size === 0) continue;
    writeRun(writer, run - before, widthS, [...byKey.values()]);
    before = run;
  }
  return writer.finish();
}

/** Returns the number of a template in the section: the order of first uses. */
function numberIn(used: Map<number, number>, template: number): number {
  const known = used.get(template);
  if (known !== undefined) return known;
  const number = used.size;
  used.set(template, number);
  return number;
}

function keyOf(template: number, key: number): number {
  return template * (1 << LEVEL_BITS) + (key % (1 << LEVEL_BITS));
}

/** Merges two lists that ascend by bucket. */
function merged(a: CountGroup, b: Pick<CountGroup, 'buckets' | 'lines'>): CountGroup {
  const buckets: number[] = [];
  const lines: number[] = [];
  for (let i = 0, j = 0; i < a.buckets.length || j < b.buckets.length; ) {
    const ofA = i < a.buckets.length ? a.buckets[i] : Infinity;
    const ofB = j < b.buckets.length ? b.buckets[j] : Infinity;
    const bucket = Math.min(ofA, ofB);
    buckets.push(bucket);
    lines.push((ofA === bucket ? a.lines[i++] : 0) + (ofB === bucket ? b.lines[j++] : 0));
  }
  return { key: a.key, buckets, lines };
}
