/** Entries as plain objects, and the columns that the program works on made from them: models for tests. */
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import type { PageRows, Stream } from '../../shared/base/model/page.ts';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import type { ChunkRows } from '../../shared/storage/chunk/rows.ts';

export interface PlainEntry {
  readonly stream: Readonly<Record<string, string>>;
  /** Nanoseconds since the start of the day. */
  readonly time: number;
  readonly line: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export function streamOf(labels: Readonly<Record<string, string>>): Stream {
  const sorted = labelsOf(labels);
  return { labels: sorted, text: formatLabels(sorted) };
}

/** Sorted rows of entries, in the order (stream, time, index in the list). */
export function rowsOf(entries: readonly PlainEntry[]): ChunkRows {
  const byText = new Map(entries.map(entry => [streamOf(entry.stream).text, streamOf(entry.stream)]));
  const streams = [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
  const indexOf = new Map(streams.map((stream, i) => [stream.text, i]));
  const sorted = entries
    .map((entry, i) => ({ entry, i, s: indexOf.get(streamOf(entry.stream).text)! }))
    .sort((a, b) => a.s - b.s || a.entry.time - b.entry.time || a.i - b.i);
  const names: string[] = [];
  const values: string[] = [];
  const idIn = (list: string[], text: string) =>
    list.includes(text) ? list.indexOf(text) : list.push(text) - 1;
  const lines = sorted.map(({ entry }) => Buffer.from(entry.line));
  const lineStart: number[] = [];
  const lineEnd: number[] = [];
  const firstPair = [0];
  const pairName: number[] = [];
  const pairValue: number[] = [];
  let at = 0;
  sorted.forEach(({ entry }, i) => {
    lineStart.push(at);
    at += lines[i].length;
    lineEnd.push(at);
    for (const [name, value] of Object.entries(entry.metadata)) {
      pairName.push(idIn(names, name));
      pairValue.push(idIn(values, value));
    }
    firstPair.push(pairName.length);
  });
  return {
    streams,
    rows: sorted.length,
    streamOf: Uint32Array.from(sorted, ({ s }) => s),
    times: Float64Array.from(sorted, ({ entry }) => entry.time),
    sources: [Buffer.concat(lines)],
    sourceOf: new Uint16Array(sorted.length),
    lineStart: Uint32Array.from(lineStart),
    lineEnd: Uint32Array.from(lineEnd),
    names,
    values: values.map(value => Buffer.from(value)),
    firstPair: Uint32Array.from(firstPair),
    pairName: Uint32Array.from(pairName),
    pairValue: Uint32Array.from(pairValue),
  };
}

/** The entries of a decoded page, in row order. */
export function entriesOfPage(page: PageRows, dayStartNs: bigint): PlainEntry[] {
  const entries: PlainEntry[] = [];
  const base = Number(page.baseNs - dayStartNs);
  for (const run of page.runs) {
    for (let row = run.firstRow; row < run.firstRow + run.rows; row++) {
      const metadata: Record<string, string> = {};
      for (const column of page.metadata) {
        if (column.ids[row] > 0) metadata[column.name] = column.valueAt(column.ids[row] - 1);
      }
      entries.push({
        stream: Object.fromEntries(run.stream.labels.map(({ name, value }) => [name, value])),
        time: base + page.times[row],
        line: page.lines.toString('utf8', page.lineOffsets[row], page.lineOffsets[row + 1]),
        metadata,
      });
    }
  }
  return entries;
}

/** Entries of a few streams of one day, with ties, empty lines, and clocks of different resolution. */
export function arbitraryEntries(maxLength = 60): fc.Arbitrary<PlainEntry[]> {
  const time = fc.oneof(
    fc.integer({ min: 0, max: NS_OF_DAY - 1 }),
    fc.integer({ min: 0, max: 86_399 }).map(seconds => seconds * 1e9),
    fc.constantFrom(0, 1, NS_OF_DAY - 1, 60_000_000_000, 60_000_000_001),
  );
  const stream = fc.record({ app: fc.constantFrom('a', 'b', 'ü'), pod: fc.constantFrom('1', '2') });
  const metadata = fc.dictionary(
    fc.constantFrom('trace', 'detected_level', 'x'),
    fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' }),
  );
  const line = fc.oneof(
    fc.string({ maxLength: 30, unit: 'grapheme' }),
    fc.constant(''),
    fc.constant('the same line'),
    // Merges put streams of JSON, logfmt and other lines into different pages.
    fc.constantFrom('{"n":1}', '{"n":2}', 'n=1', 'n=2 m="x"'),
  );
  return fc.array(fc.record({ stream, time, line, metadata }), { minLength: 1, maxLength });
}
