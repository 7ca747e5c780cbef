/**
 * Parts of a day: cumulative histograms, distinct counts, detected labels; and what is read, cached, expired
 * and refused.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { hashOfText } from '../../shared/base/model/text-hash.ts';
import { NS_OF_MINUTE, NS_PER_DAY, NS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { CumulativeHistogram } from '../../shared/read/insight/cumulative-histogram.ts';
import { DetectedLabels } from '../../shared/read/insight/detected-labels.ts';
import { Distinct } from '../../shared/read/insight/distinct.ts';
import { volumeBytes } from '../../shared/read/insight/volume-bytes.ts';
import type { DatedEntry } from '../support/pushes.ts';
import { streamOf } from '../support/rows.ts';
import { DAY, makeWorld, START_NS, who } from './world.ts';

const DAY_END = 1440 * NS_OF_MINUTE;

describe('curves', () => {
  test.each([1, 5])('curves of %d minutes are exact between cells, and intervals add up', minutes => {
    const entry = fc.record({
      minute: fc.integer({ min: 0, max: 1439 }),
      second: fc.integer({ min: 1, max: 59 }),
      amount: fc.integer({ min: 1, max: 1000 }),
    });
    const time = fc.integer({ min: 0, max: DAY_END });
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1 }), time, time, time, (entries, ...times) => {
        const curves = new CumulativeHistogram(minutes);
        const row = curves.addRow();
        for (const { minute, second, amount } of entries) {
          const at = minute * NS_OF_MINUTE + second * 1e9;
          curves.add(row, at, at, amount);
        }
        curves.seal();
        const cell = minutes * NS_OF_MINUTE;
        const [a, b, c] = [...times].sort((one, other) => one - other);
        const [from, to] = [a - (a % cell), c - (c % cell)];
        const inside = entries.filter(
          ({ minute }) => minute * NS_OF_MINUTE >= from && minute * NS_OF_MINUTE < to,
        );
        expect(curves.between(row, from, to)).toBe(inside.reduce((sum, { amount }) => sum + amount, 0));
        const whole = curves.between(row, a, c);
        expect(curves.between(row, a, b) + curves.between(row, b, c)).toBeCloseTo(whole, 6);
        expect(whole).toBeGreaterThanOrEqual(0);
        expect(curves.between(row, 0, DAY_END)).toBe(curves.total[row]);
      }),
    );
  });

  test('an interval that cuts a minute gets its share, between the first entry and the last', () => {
    const curves = new CumulativeHistogram(1);
    const row = curves.addRow();
    const counts = [
      { level: 0, minutes: [11, 12], entries: [5, 5], lineBytes: [50, 60], metadataBytes: [10, 0] },
    ];
    const bytes = (_: number, lines: number, metadata: number) => lines + metadata;
    curves.addMinutes(row, 10.5 * NS_OF_MINUTE, 11.5 * NS_OF_MINUTE, counts, bytes);
    curves.seal();
    // [from, to, amount], minutes
    for (const [from, to, amount] of [
      [0, 10.5, 0],
      [0, 10.75, 30],
      [0, 11, 60],
      [11, 11.25, 30],
      [11.25, 12, 30],
      [10.75, 11.25, 60],
      [11.5, 1440, 0],
      [0, 1440, 120],
    ]) {
      expect([from, to, curves.between(row, from * NS_OF_MINUTE, to * NS_OF_MINUTE)]).toEqual([
        from,
        to,
        amount,
      ]);
    }
  });

  test('grow over the first rows, and know themselves without cells', () => {
    const curves = new CumulativeHistogram(0);
    for (let i = 0; i < 100; i++) {
      const row = curves.addRow();
      curves.add(row, i, 2 * i, i);
    }
    curves.seal();
    expect([...curves.total]).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(curves.last[99]).toBe(198);
    expect(curves.weightBytes).toBe(100 * 3 * 8);
  });
});

test('counts distinct texts exactly to a thousand, within a few percent beyond, and merged', () => {
  const of = (from: number, to: number) => {
    const distinct = new Distinct();
    for (let i = from; i < to; i++) distinct.add(hashOfText(`{pod="${i}"}`));
    return distinct;
  };
  for (const [from, to] of [
    [0, 0],
    [0, 700],
    [0, 1024],
  ])
    expect(of(from, to).count()).toBe(to - from);
  const [few, many, more] = [of(0, 900), of(500, 30_500), of(20_000, 50_000)];
  for (const [into, other, count] of [
    [of(0, 900), few, 900],
    [of(500, 30_500), few, 30_500],
    [of(0, 900), many, 30_500],
    [of(500, 30_500), more, 49_500],
  ] as const) {
    into.merge(other);
    expect(Math.abs(into.count() - count) / count).toBeLessThan(0.05);
  }
  expect(many.weightBytes).toBeLessThan(5000);
});

describe('detected labels', () => {
  const UUID = '0b9c1f2a-1111-4222-8333-abcdefabcdef';
  // [what, values of the label, its name, cardinality or undefined if it is not shown]
  const rows: [string, string[], string, number | undefined][] = [
    ['words', ['a', 'b', 'a'], 'x', 2],
    ['numbers', ['1', '22', '1.5', '1e3'], 'x', undefined],
    [
      'UUIDs',
      [UUID, UUID.toUpperCase(), `{${UUID}}`, `urn:uuid:${UUID}`, UUID.replaceAll('-', '')],
      'x',
      undefined,
    ],
    ['numbers and UUIDs', ['7', UUID], 'x', undefined],
    ['a word among numbers', ['7', 'seven'], 'x', 2],
    ['bits', ['0', '1'], 'x', 2],
    ['one bit', ['1'], 'x', 1],
    ['bits and more', ['0', '1', '2'], 'x', undefined],
    ['numbers of pods', ['1', '2', '3'], 'pod', 3],
    ['numbers of clusters', ['17'], 'cluster', 1],
    ['shards', ['a'], '__stream_shard__', 1],
    ['the tenant', ['a'], '__tenant_id__', undefined],
  ];
  test.each(rows)('%s', (_, values, label, cardinality) => {
    const labels = new DetectedLabels();
    for (const value of values) labels.add(streamOf({ [label]: value }));
    expect(labels.list()).toEqual(cardinality === undefined ? [] : [{ label, cardinality }]);
  });
});

test('bytes of entries: lines and metadata, without the name of a level', () => {
  // [entries, bytes of lines, of metadata, volume]
  for (const [entries, lines, metadata, volume] of [
    [2, 100, 0, 100],
    [2, 100, 36, 108],
    [2, 100, 50, 122],
    [2, 100, 17, 117],
  ])
    expect(volumeBytes(entries, lines, metadata)).toBe(volume);
});

const entry = (time: number, pod: string, line = 'x'.repeat(100), day = DAY): DatedEntry => ({
  stream: { app: 'a', pod },
  day,
  time,
  line,
  metadata: {},
});
const APP = [{ name: 'app', op: '=', value: 'a' }] as const;
const whole = { startNs: START_NS, endNs: START_NS + NS_PER_DAY - 1n };
const byPod = { by: 'series', names: ['pod'] } as const;
const query = { matchers: APP, range: whole, grouping: byPod, stepNs: undefined };

describe('insight', () => {
  test('days are read once; a push makes only itself be looked at', async () => {
    const world = makeWorld();
    const many = (hour: number) => Array.from({ length: 300 }, (_, i) => entry(hour * 3.6e12 + i, `${i}`));
    for (let hour = 0; hour < 6; hour++) await world.push(many(hour));
    await world.sync(DAY);
    world.reads.length = 0;
    const first = await world.insight().volumes(query, who());
    expect(first.series).toHaveLength(300);
    expect(first.series[0].totalBytes).toBe(600);
    const reads = world.reads.length;
    expect(await world.insight().volumes(query, who())).toEqual(first);
    expect(world.reads.length).toBe(reads);
    await world.push(many(7));
    const more = await world.insight().volumes(query, who());
    expect(more.series[0].totalBytes).toBe(700);
    expect(world.reads.length).toBeLessThanOrEqual(reads + 1);
  });

  test('a broken index is done without', async () => {
    const world = makeWorld();
    for (let hour = 0; hour < 6; hour++) {
      await world.push([entry(hour * 3.6e12 + 1e9, 'x'), entry(hour * 3.6e12 + 2e12, 'x')]);
    }
    await world.sync(DAY);
    const { objects } = await world.store.list('t/');
    const { key } = objects.find(object => object.key.includes('index'))!;
    const object = await world.store.get(key);
    // Counts come first: the head is whole.
    object[2] ^= 0xff;
    await world.store.delete(key);
    await world.store.putIfAbsent(key, object);
    const hourly = { ...query, stepNs: 30n * NS_PER_MINUTE };
    const { series } = await world.insight().volumes(hourly, who());
    expect(series[0].totalBytes).toBe(1200);
    expect(series[0].bytes.filter(bytes => bytes > 0)).toHaveLength(12);
  });

  test('expired entries do not count, by stream', async () => {
    // Now is three days after the beginning of the day.
    const limits = {
      ...DEFAULT_LIMITS,
      retentionPeriodNs: 0n,
      retentionStream: [
        { selector: '{pod="short"}', priority: 1, periodNs: NS_PER_DAY },
        { selector: '{pod="cut"}', priority: 1, periodNs: 3n * NS_PER_DAY - NS_PER_DAY / 2n },
      ],
    };
    const world = makeWorld({ limits });
    const times = [1e12, 50e12];
    await world.push(['kept', 'short', 'cut'].flatMap(pod => times.map(time => entry(time, pod))));
    await world.sync(DAY);
    const of = async () => {
      const { series } = await world.insight().volumes(query, who());
      return Object.fromEntries(series.map(({ labels, totalBytes }) => [labels[0].value, totalBytes]));
    };
    expect(await of()).toEqual({ kept: 200, cut: 100 });
    const { streams, entries } = await world.insight().stats(APP, whole, who());
    expect([streams, entries]).toEqual([2, 3]);
    await world.clock.advance(43_200_000);
    expect(await of()).toEqual({ kept: 200 });
  });

  test('tenants are summed', async () => {
    const world = makeWorld();
    await world.push([entry(1, 'x')], 't');
    await world.push([entry(1, 'x'), entry(2, 'y')], 'u');
    const { series } = await world.insight().volumes(query, who({}, ['t', 'u']));
    expect(Object.fromEntries(series.map(({ text, totalBytes }) => [text, totalBytes]))).toEqual({
      '{pod="x"}': 200,
      '{pod="y"}': 100,
    });
    const stats = await world.insight().stats(APP, whole, who({}, ['t', 'u']));
    expect(stats).toEqual({ streams: 3, chunks: 2, bytes: 300, entries: 3 });
  });

  test('many streams of a day that the range cuts are counted by the hour, within a few percent', async () => {
    const world = makeWorld();
    const many = (hour: number) =>
      Array.from({ length: 3000 }, (_, i) => entry(hour * 3.6e12 + 1e9 + i, `${hour}-${i}`, 'x'));
    await world.push([...many(1), ...many(5)]);
    await world.sync(DAY);
    // [from hour, to hour, streams, entries]
    for (const [from, to, streams, entries] of [
      [0, 24, 6000, 6000],
      [0, 3, 3000, 3000],
      [5, 6, 3000, 3000],
      [2, 5, 0, 0],
      [1, 5.5, 6000, 6000],
    ]) {
      const range = {
        startNs: START_NS + BigInt(from * 3.6e12),
        endNs: START_NS + BigInt(to * 3.6e12) - 1n,
      };
      const found = await world.insight().stats(APP, range, who());
      expect([from, to, found.entries]).toEqual([from, to, entries]);
      expect(Math.abs(found.streams - streams)).toBeLessThanOrEqual(0.05 * streams);
    }
  });

  test('limits', async () => {
    const world = makeWorld();
    await world.push([entry(1, 'x'), entry(2, 'y'), entry(3, 'z')]);
    const ask = (limits: Parameters<typeof who>[0]) => world.insight().volumes(query, who(limits));
    await expect(ask({ volumeMaxSeries: 2 })).rejects.toThrow(
      'the query hit the max number of series limit (limit: 2 series)',
    );
    expect((await ask({ volumeMaxSeries: 3 })).series).toHaveLength(3);
    expect((await ask({ volumeMaxSeries: 0 })).series).toHaveLength(3);
    await expect(ask({ volumeMaxSeries: 2 })).rejects.toMatchObject({ status: 400 });
    await expect(ask({ maxQueryLengthNs: NS_PER_DAY / 2n })).rejects.toThrow(
      /^the query time range exceeds the limit/,
    );
    expect((await ask({ maxQueryLookbackNs: NS_PER_DAY })).series).toEqual([]);
    expect(await world.insight().stats(APP, whole, who({ maxQueryLookbackNs: NS_PER_DAY }))).toEqual({
      streams: 0,
      chunks: 0,
      bytes: 0,
      entries: 0,
    });
  });
});
