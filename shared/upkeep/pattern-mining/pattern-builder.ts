/**
 * Builds the patterns of one chunk: mines its pages in order and encodes the section. Every line is counted.
 * Templates of lines without similar ones are stored only while they are a small part of the chunk.
 *
 * Counts are first written with the numbers of clusters, because a cluster may become wider until the last
 * page.
 */

import { lineWordsOfThread } from '../../base/kernels/line-words.ts';
import { NS_OF_SECOND } from '../../base/model/time-units.ts';
import { ByteWriter } from '../../storage/codec/byte-io.ts';
import {
  COARSE_BUCKET_S,
  COARSE_FROM_NS,
  DICTIONARY_SHARE,
  FINE_BUCKET_S,
  MAX_CLUSTERS,
  MAX_SECTION_BYTES,
  MAX_TEMPLATES,
  MIN_DICTIONARY_BYTES,
} from './bounds.ts';
import { templateBytes } from './cluster.ts';
import { joinAll } from './join.ts';
import { LEVEL_BITS } from './levels.ts';
import { Miner } from './miner.ts';
import { clustersOf, NO_CLUSTER, type PageLines } from './page-clusters.ts';
import { type CountGroup, encodeSection, type PatternSection, readRuns, writeRun } from './section-codec.ts';

/** Templates of fewer lines may be joined into one with an open end. */
const RARE_LINES = 4;
const NO_TEMPLATE = -1;

/** Rows of a page to mine. */
export interface MinedRows extends PageLines {
  readonly runs: readonly { readonly firstRow: number; readonly rows: number }[];
  /** Time of each row, ns of the day minus `base`; ascending inside a run. */
  readonly times: Float64Array;
  readonly base: number;
}

export class PatternBuilder {
  #miner = new Miner();
  /** Number of clusters of earlier miners. */
  #done = 0;
  /** Template number by cluster number. */
  readonly #templateOf: number[] = [];
  readonly #templates = new Map<string, number>();
  readonly #parts: { readonly bytes: Buffer; readonly isFinal: boolean }[] = [];
  #partBytes = 0;
  #dictionaryBytes = 0;
  #lineBytes = 0;
  #isTooLarge = false;

  /** Mines the next page. */
  addPage(page: MinedRows): void {
    const { lineOffsets, runs, times, base, levels } = page;
    const writer = new ByteWriter(1024);
    const clusterOf = clustersOf(page, this.#miner, lineWordsOfThread());
    // Number of the group of a cluster and level in the current run, from 1 on.
    const groupOf = new Uint32Array(this.#miner.clusters.length << LEVEL_BITS);
    let before = 0;
    for (let run = 0; run < runs.length && !this.#isTooLarge; run++) {
      const { firstRow, rows } = runs[run];
      const end = firstRow + rows;
      const span = times[end - 1] - times[firstRow];
      const widthS = span >= COARSE_FROM_NS ? COARSE_BUCKET_S : FINE_BUCKET_S;
      const groups: CountGroup[] = [];
      const bucketNs = widthS * NS_OF_SECOND;
      let bucket = 0;
      let bucketEnd = -Infinity;
      for (let row = firstRow; row < end; row++) {
        const cluster = clusterOf[row];
        if (cluster === NO_CLUSTER) continue;
        const time = base + times[row];
        if (time >= bucketEnd) {
          bucket = Math.floor(time / bucketNs);
          bucketEnd = (bucket + 1) * bucketNs;
        }
        const slot = ((cluster - this.#done) << LEVEL_BITS) + levels[row];
        if (groupOf[slot] === 0) {
          groupOf[slot] = groups.push({
            key: cluster * (1 << LEVEL_BITS) + levels[row],
            buckets: [],
            lines: [],
          });
        }
        count(groups[groupOf[slot] - 1], bucket);
      }
      for (const { key } of groups) groupOf[key - this.#done * (1 << LEVEL_BITS)] = 0;
      if (groups.length === 0) continue;
      writeRun(writer, run - before, widthS, groups);
      before = run;
    }
    this.#lineBytes += lineOffsets[lineOffsets.length - 1] - lineOffsets[0];
    this.#addPart(writer.finish(), false);
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
    this.#addPart(writer.finish(), true);
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
    const pages = this.#parts.map(({ bytes, isFinal }) => this.#renumbered(bytes, isFinal, used));
    const keys = [...this.#templates.keys()];
    return { templates: Array.from(used.keys(), number => keys[number]), pages };
  }

  #addPart(bytes: Buffer, isFinal: boolean): void {
    this.#parts.push({ bytes, isFinal });
    this.#partBytes += bytes.length;
    if (this.#partBytes > MAX_SECTION_BYTES) this.#isTooLarge = true;
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

  /** Renumbers the used templates of a part in the order of their first use. */
  #renumbered(part: Buffer, isFinal: boolean, used: Map<number, number>): Buffer {
    const writer = new ByteWriter(part.length);
    let before = 0;
    for (const { run, widthS, groups } of readRuns(part)) {
      const byKey = new Map<number, CountGroup>();
      for (const { key, buckets, lines } of groups) {
        const cluster = Math.floor(key / (1 << LEVEL_BITS));
        const template = isFinal ? cluster : this.#templateOf[cluster];
        if (template === NO_TEMPLATE) continue;
        let number = used.get(template);
        if (number === undefined) {
          number = used.size;
          used.set(template, number);
        }
        const named = keyOf(number, key);
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
}

function keyOf(template: number, key: number): number {
  return template * (1 << LEVEL_BITS) + (key % (1 << LEVEL_BITS));
}

function count({ buckets, lines }: CountGroup, bucket: number): void {
  const last = buckets.length - 1;
  if (last >= 0 && buckets[last] === bucket) lines[last]++;
  else {
    buckets.push(bucket);
    lines.push(1);
  }
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
