/** The volume of one part of a day by series: what is remembered of it, and how it is made. */
import type { LevelCounts } from '../../chunk/format.ts';
import { BadRequestError } from '../../model/errors.ts';
import { formatLabels, type Label, type Labels } from '../../model/labels.ts';
import type { Stream } from '../../model/page.ts';
import { Curves } from './curves.ts';
import type { Collector, Question } from './day-cache.ts';
import { volumeBytes } from './volume-bytes.ts';
import { NO_PLACE, type Sums } from './walk-day.ts';

/** What a series of volumes stands for (wire-format reference, 3.9). */
export interface Grouping {
  /** `series`: label sets. `labels`: names of labels. */
  readonly by: 'series' | 'labels';
  /** Labels that take part, or undefined for all. */
  readonly names: readonly string[] | undefined;
}

export interface VolumeSeries {
  readonly labels: Labels;
  /** Canonical text of the labels. */
  readonly text: string;
}

/** Labels of a series as objects and text. */
const SERIES_BYTES = 300;

export class VolumeDay {
  /** Parallel to the rows of the curves. */
  readonly series: readonly VolumeSeries[];
  readonly curves: Curves;

  constructor(series: readonly VolumeSeries[], curves: Curves) {
    this.series = series;
    this.curves = curves;
  }

  get weightBytes(): number {
    let texts = 0;
    for (const { text } of this.series) texts += SERIES_BYTES + 4 * text.length;
    return texts + this.curves.weightBytes;
  }
}

/** Throws the error of too many series. */
export function checkSeries(count: number, maxSeries: number): void {
  if (count <= maxSeries) return;
  throw new BadRequestError(`the query hit the max number of series limit (limit: ${maxSeries} series)`);
}

/** @param cellMinutes see Curves */
export function volumeQuestion(
  grouping: Grouping,
  cellMinutes: number,
  maxSeries: number,
): Question<VolumeDay> {
  return {
    key: `volume ${cellMinutes} ${JSON.stringify([grouping.by, grouping.names])}`,
    collector: part => new VolumeCollector(grouping, cellMinutes, maxSeries, part.matches),
  };
}

class VolumeCollector implements Collector<VolumeDay> {
  private readonly grouping: Grouping;
  private readonly maxSeries: number;
  private readonly matches: (stream: Stream) => boolean;
  private readonly curves: Curves;
  private readonly series: VolumeSeries[] = [];
  private readonly rowOfText = new Map<string, number>();
  /** Of each place, the rows that its stream counts for. */
  private readonly rowsOf: (readonly number[])[] = [];

  constructor(
    grouping: Grouping,
    cellMinutes: number,
    maxSeries: number,
    matches: (stream: Stream) => boolean,
  ) {
    this.grouping = grouping;
    this.maxSeries = maxSeries;
    this.matches = matches;
    this.curves = new Curves(cellMinutes);
  }

  place(stream: Stream): number {
    if (!this.matches(stream)) return NO_PLACE;
    const rows = this.seriesOf(stream.labels).map(labels => this.rowOf(labels));
    return rows.length === 0 ? NO_PLACE : this.rowsOf.push(rows) - 1;
  }

  wantsMinutes(first: number, last: number): boolean {
    return !this.curves.isOneCell(first, last);
  }

  add(place: number, first: number, last: number, { entries, lineBytes, metadataBytes }: Sums): void {
    const bytes = volumeBytes(entries, lineBytes, metadataBytes);
    for (const row of this.rowsOf[place]) this.curves.add(row, first, last, bytes);
  }

  addMinutes(place: number, first: number, last: number, counts: readonly LevelCounts[]): void {
    for (const row of this.rowsOf[place]) this.curves.addMinutes(row, first, last, counts, volumeBytes);
  }

  addChunk(): void {
    // Volumes are of streams.
  }

  finish(): VolumeDay {
    return new VolumeDay(this.series, this.curves.seal());
  }

  private seriesOf(labels: Labels): Labels[] {
    const { by, names } = this.grouping;
    const kept = names === undefined ? labels : labels.filter(({ name }) => names.includes(name));
    if (by === 'series') return [kept];
    return kept.map(({ name }): Label[] => [{ name, value: '' }]);
  }

  private rowOf(labels: Labels): number {
    const text = formatLabels(labels);
    const known = this.rowOfText.get(text);
    if (known !== undefined) return known;
    checkSeries(this.series.length + 1, this.maxSeries);
    this.series.push({ labels, text });
    const row = this.curves.addRow();
    this.rowOfText.set(text, row);
    return row;
  }
}
