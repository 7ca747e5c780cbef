/**
 * Computes and caches the volume of one part of a day by series. If intervals may be requested, the bytes of
 * each stream are spread over its runs (stream-runs.ts).
 *
 * Pitfall: chunks that came after the last index may join two runs of a stream in the index. The volume of
 * such chunks is therefore the difference that they make: the runs of their streams with them, less the runs
 * in the covered part. Parts still add up.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import { formatLabels, type Label, type Labels } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import { hashOfText } from '../../base/model/text-hash.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';
import { type DaySums, NO_INDEX } from './aggregate-day.ts';
import { CumulativeHistogram } from './cumulative-histogram.ts';
import type { Collector, CollectorOptions, Question } from './day-cache.ts';
import { isOneRun, StreamRuns } from './stream-runs.ts';
import { volumeBytes } from './volume-bytes.ts';

/** Grouping of volumes into series (docs/dev/wire-format.md#volumes). */
export interface VolumeGrouping {
  /** `series`: label sets. `labels`: label names. */
  readonly by: 'series' | 'labels';
  /** Labels to use, or undefined for all. */
  readonly names: readonly string[] | undefined;
}

export interface VolumeSeries {
  readonly labels: Labels;
  /** Canonical text of the labels. */
  readonly text: string;
}

/** Bytes of a series' labels as objects and text. */
const SERIES_BYTES = 300;

/** Bytes of an entry in a map of numbers. */
const HASH_BYTES = 40;

/** Streams of a part, for chunks that come after it. */
interface KnownStreams {
  readonly runs: StreamRuns;
  /** Indexes by hash of the canonical text. */
  readonly indexes: ReadonlyMap<number, number>;
}

class VolumeDay {
  /** Parallel to the rows of the histogram. */
  readonly series: readonly VolumeSeries[];
  readonly curves: CumulativeHistogram;
  readonly streams: KnownStreams | undefined;

  constructor(
    series: readonly VolumeSeries[],
    curves: CumulativeHistogram,
    streams: KnownStreams | undefined,
  ) {
    this.series = series;
    this.curves = curves;
    this.streams = streams;
  }

  get weightBytes(): number {
    let texts = 0;
    for (const { text } of this.series) texts += SERIES_BYTES + 4 * text.length;
    const { streams } = this;
    const known = streams === undefined ? 0 : streams.runs.weightBytes + HASH_BYTES * streams.indexes.size;
    return texts + known + this.curves.weightBytes;
  }
}

/** Throws the error for too many series. */
export function checkSeries(count: number, maxSeries: number): void {
  if (count <= maxSeries) return;
  throw new BadRequestError(`the query hit the max number of series limit (limit: ${maxSeries} series)`);
}

/** @param cellMinutes see CumulativeHistogram */
export function volumeQuestion(
  grouping: VolumeGrouping,
  cellMinutes: number,
  maxSeries: number,
): Question<VolumeDay> {
  return {
    key: `volume ${cellMinutes} ${JSON.stringify([grouping.by, grouping.names])}`,
    joins: cellMinutes > 0,
    collector: ({ matches }, options) =>
      new VolumeCollector({ grouping, cellMinutes, maxSeries, matches, ...options }),
  };
}

interface VolumeCollectorParts extends CollectorOptions<VolumeDay> {
  readonly grouping: VolumeGrouping;
  readonly cellMinutes: number;
  readonly maxSeries: number;
  matches(stream: Stream): boolean;
}

class VolumeCollector implements Collector<VolumeDay> {
  readonly #parts: VolumeCollectorParts;
  readonly #curves: CumulativeHistogram;
  readonly #series: VolumeSeries[] = [];
  readonly #rowOfText = new Map<string, number>();
  /** Rows that a stream counts for, by stream index. */
  readonly #rowsOf: (readonly number[])[] = [];
  /** Parallel to the stream indexes. Undefined if no intervals are requested. */
  readonly #runs: StreamRuns | undefined;
  /**
   * Keyed by canonical text, whose hash the engine caches. Our own hashes are computed only if parts are
   * merged.
   */
  readonly #indexes = new Map<string, number>();
  /**
   * Rows by the labels that are used. 100,000 streams have a few hundred combinations, and formatting them
   * takes longest.
   */
  readonly #rowOfLabels = new Map<string, number>();

  constructor(parts: VolumeCollectorParts) {
    this.#parts = parts;
    this.#curves = new CumulativeHistogram(parts.cellMinutes);
    this.#runs = parts.cellMinutes > 0 ? new StreamRuns() : undefined;
  }

  /** A stream of several chunks without an index may come repeatedly, but with a single index. */
  indexOf(stream: Stream): number {
    if (!this.#parts.matches(stream)) return NO_INDEX;
    const runs = this.#runs;
    const indexes = this.#indexes;
    const known = runs && indexes.get(stream.text);
    if (known !== undefined) return known;
    const rows = this.#seriesOf(stream.labels).map(labels => this.#rowOf(labels));
    if (rows.length === 0) return NO_INDEX;
    if (runs !== undefined) indexes.set(stream.text, runs.addStream());
    return this.#rowsOf.push(rows) - 1;
  }

  wantsMinutes(first: number, last: number): boolean {
    return this.#runs !== undefined && !isOneRun(first, last);
  }

  add(index: number, first: number, last: number, { entries, lineBytes, metadataBytes }: DaySums): void {
    const bytes = volumeBytes(entries, lineBytes, metadataBytes);
    if (this.#runs !== undefined) this.#runs.add(index, first, last, bytes);
    else for (const row of this.#rowsOf[index]) this.#curves.add(row, first, last, bytes);
  }

  addMinutes(index: number, first: number, last: number, counts: readonly LevelCounts[]): void {
    this.#runs!.addMinutes(index, first, last, counts, volumeBytes);
  }

  addChunk(): void {
    // Volumes count only streams.
  }

  finish(): VolumeDay {
    const runs = this.#runs;
    const indexes = this.#indexes;
    const parts = this.#parts;
    const series = this.#series;
    const curves = this.#curves;
    if (runs === undefined) return new VolumeDay(series, curves.seal(), undefined);
    const covered = parts.covered?.streams;
    for (const [text, index] of indexes) {
      const before = covered?.indexes.get(hashOfText(text));
      if (before !== undefined) {
        this.#addEvenly(index, covered!.runs, before, -1);
        runs.addAll(index, covered!.runs, before);
      }
      this.#addEvenly(index, runs, index, 1);
    }
    if (!parts.isJoinedLater) return new VolumeDay(series, curves.seal(), undefined);
    const byHash = new Map([...indexes].map(([text, index]) => [hashOfText(text), index]));
    return new VolumeDay(series, curves.seal(), { runs, indexes: byHash });
  }

  #addEvenly(index: number, runs: StreamRuns, stream: number, sign: 1 | -1): void {
    const curves = this.#curves;
    const rowsOf = this.#rowsOf;
    runs.visit(stream, (from, to, bytes) => {
      for (const row of rowsOf[index]) curves.addEvenly(row, from, to, sign * bytes);
    });
  }

  #seriesOf(labels: Labels): Labels[] {
    const { by, names } = this.#parts.grouping;
    const kept = names === undefined ? labels : labels.filter(({ name }) => names.includes(name));
    if (by === 'series') return [kept];
    return kept.map(({ name }): Label[] => [{ name, value: '' }]);
  }

  #rowOf(labels: Labels): number {
    const kept = keyOfLabels(labels);
    let row = this.#rowOfLabels.get(kept);
    if (row === undefined) {
      row = this.#newRowOf(labels);
      this.#rowOfLabels.set(kept, row);
    }
    return row;
  }

  #newRowOf(labels: Labels): number {
    const text = formatLabels(labels);
    const known = this.#rowOfText.get(text);
    if (known !== undefined) return known;
    checkSeries(this.#series.length + 1, this.#parts.maxSeries);
    this.#series.push({ labels, text });
    const row = this.#curves.addRow();
    this.#rowOfText.set(text, row);
    return row;
  }
}

/** Key of a label set, faster than its text: lengths delimit names and values, whatever they contain. */
function keyOfLabels(labels: Labels): string {
  let key = '';
  for (const { name, value } of labels) key += `${name.length} ${name}${value.length} ${value}`;
  return key;
}
