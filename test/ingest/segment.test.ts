import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import type { ChunkRows } from '../../shared/storage/chunk/rows.ts';
import { segmentsOf } from '../../shared/write/ingest/segment.ts';
import { type DatedEntry, identityOf, pushOf } from '../support/pushes.ts';
import { arbitraryEntries, streamOf } from '../support/rows.ts';
import { segmentList } from '../support/segments.ts';

function entriesOf(rows: ChunkRows, day: number): DatedEntry[] {
  return Array.from({ length: rows.rows }, (_, row) => {
    const metadata: Record<string, string> = {};
    for (let p = rows.firstPair[row]; p < rows.firstPair[row + 1]; p++) {
      metadata[rows.names[rows.pairName[p]]] = rows.values[rows.pairValue[p]].toString();
    }
    return {
      stream: Object.fromEntries(
        rows.streams[rows.streamOf[row]].labels.map(({ name, value }) => [name, value]),
      ),
      day,
      time: rows.times[row],
      line: rows.sources[rows.sourceOf[row]].toString('utf8', rows.lineStart[row], rows.lineEnd[row]),
      metadata,
    };
  });
}

const dated = (maxLength: number) =>
  arbitraryEntries(maxLength).chain(entries =>
    fc
      .tuple(...entries.map(() => fc.constantFrom(20_000, 20_000, 20_001, -3)))
      .map(days => entries.map((entry, i): DatedEntry => ({ ...entry, day: days[i] }))),
  );

describe('segments', () => {
  test('contain every entry of every push once, by day, stream and time', () => {
    const pushes = fc.array(dated(25), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pushes, fc.boolean(), (lists, repeat) => {
        const all = repeat ? [...lists, lists[0]] : lists;
        const segments = segmentList(all.map(pushOf));
        const first = new Map<string, DatedEntry>();
        for (const entry of all.flat())
          if (!first.has(identityOf(entry))) first.set(identityOf(entry), entry);
        const want = [...first.values()];
        expect(segments.map(segment => segment.day)).toEqual(
          [...new Set(want.map(entry => entry.day))].sort((a, b) => a - b),
        );
        for (const { day, rows } of segments) {
          const entriesOfDay = want
            .filter(entry => entry.day === day)
            .map((entry, i) => ({ entry, i }))
            .sort(
              (a, b) =>
                compareUtf8(streamOf(a.entry.stream).text, streamOf(b.entry.stream).text) ||
                a.entry.time - b.entry.time ||
                a.i - b.i,
            );
          expect(entriesOf(rows, day)).toEqual(entriesOfDay.map(({ entry }) => entry));
          expect(new Set(rows.streamOf).size).toBe(rows.streams.length);
        }
      }),
    );
  });

  test('groups that are segmented alternately do not mix their values', () => {
    const group = (value: string) =>
      Array.from({ length: 40 }, (_, i): DatedEntry => {
        return { stream: { app: 'a' }, day: i % 4, time: i, line: `line ${i % 10}`, metadata: { a: value } };
      });
    const running = ['1', '2', '3'].map(value => ({ value, steps: segmentsOf([pushOf(group(value))]) }));
    const values = new Map<string, Set<string | undefined>>();
    let isDone = false;
    while (!isDone) {
      isDone = true;
      for (const { value, steps } of running) {
        const step = steps.next();
        if (step.done === true) continue;
        isDone = false;
        if (step.value === undefined) continue;
        const found = entriesOf(step.value.rows, step.value.day).map(({ metadata }) => metadata.a);
        values.set(value, new Set([...(values.get(value) ?? []), ...found]));
      }
    }
    expect([...values]).toEqual(['1', '2', '3'].map(value => [value, new Set([value])]));
  });

  test('deduplicate among many entries of one instant', () => {
    const entries = Array.from({ length: 300 }, (_, i): DatedEntry => {
      const metadata = i % 2 === 0 ? { a: '1', b: '2' } : { b: '2', a: '1' };
      return { stream: { app: 'a' }, day: 1, time: 7, line: `line ${i % 100}`, metadata };
    });
    const [{ rows }] = segmentList([pushOf(entries)]);
    expect(entriesOf(rows, 1).map(entry => entry.line)).toEqual(
      Array.from({ length: 100 }, (_, i) => `line ${i}`),
    );
  });

  test('segments of many days process the streams of the push once, not once per day', () => {
    const days = 300;
    const entries = Array.from({ length: days }, (_, i): DatedEntry => {
      return { stream: { app: `${i}` }, day: i, time: 7, line: 'x', metadata: { [`name_${i}`]: 'y' } };
    });
    const push = pushOf(entries);
    let looks = 0;
    const streams = push.columns.streams.splice(0);
    for (const { labels, text } of streams) {
      push.columns.streams.push({
        labels,
        get text() {
          looks++;
          return text;
        },
      });
    }
    const segments = segmentList([push]);
    expect(segments.flatMap(({ day, rows }) => entriesOf(rows, day))).toEqual(entries);
    // Sorting compares each about 2 log2(300) times.
    expect(looks).toBeLessThan(days * 40);
  });

  test('keep entries separate that differ in one part only', () => {
    const entry: DatedEntry = { stream: { app: 'a' }, day: 1, time: 7, line: 'x', metadata: { a: '1' } };
    const others: DatedEntry[] = [
      { ...entry, stream: { app: 'b' } },
      { ...entry, day: 2 },
      { ...entry, time: 8 },
      { ...entry, line: 'y' },
      { ...entry, metadata: {} },
      { ...entry, metadata: { a: '2' } },
      { ...entry, metadata: { b: '1' } },
      { ...entry, metadata: { a: '1', b: '1' } },
    ];
    for (const other of others) {
      const rows = segmentList([pushOf([entry, other]), pushOf([other, entry])]).map(
        segment => segment.rows.rows,
      );
      expect(rows.reduce((a, b) => a + b, 0)).toBe(2);
    }
  });
});
