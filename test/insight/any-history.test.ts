/**
 * Volumes, statistics and labels of whole minutes equal those of the model, however entries are merged and
 * indexed.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import type { Matcher } from '../../shared/language/logql/ast.ts';
import type { VolumeGrouping } from '../../shared/read/insight/volume-day.ts';
import type { DatedEntry } from '../support/pushes.ts';
import { streamOf } from '../support/rows.ts';
import { arbitraryHistory, DAY, makeWorld, nsOf, START_NS, volumeOf, type World, who } from './world.ts';

interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Up to the ns before a minute ends: both ends are inclusive. */
const arbitrarySpan: fc.Arbitrary<Span> = fc
  .tuple(fc.integer({ min: 0, max: 2879 }), fc.integer({ min: 1, max: 2880 }))
  .map(([from, length]) => ({
    startNs: START_NS + BigInt(from) * NS_PER_MINUTE,
    endNs: START_NS + BigInt(from + length) * NS_PER_MINUTE - 1n,
  }));

const NOT_C: readonly Matcher[] = [{ name: 'app', op: '!=', value: 'c' }];
const GROUPINGS: readonly VolumeGrouping[] = [
  { by: 'series', names: ['app'] },
  { by: 'series', names: undefined },
  { by: 'labels', names: undefined },
];

function keysOf({ stream }: DatedEntry, { by, names }: VolumeGrouping): string[] {
  if (by === 'labels') return Object.keys(stream).map(name => streamOf({ [name]: '' }).text);
  const kept = Object.entries(stream).filter(([name]) => names?.includes(name) ?? true);
  return [streamOf(Object.fromEntries(kept)).text];
}

/** A part of a stream in a day, and the bytes that count as spread over it. */
interface Run {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly bytes: number;
  readonly of: DatedEntry;
}

const LONGEST_PAUSE_MINUTES = 30n;

/** The model: entries in order of time; a run continues across gaps of up to half an hour. */
function runsOf(known: readonly DatedEntry[]): Run[] {
  const minuteOf = (one: DatedEntry) => nsOf(one) / NS_PER_MINUTE;
  const byStream = Object.values(Object.groupBy(known, one => `${one.day} ${streamOf(one.stream).text}`));
  return byStream.flatMap((entries = []) => {
    const sorted = entries.toSorted((a, b) => (nsOf(a) < nsOf(b) ? -1 : 1));
    const runs: DatedEntry[][] = [];
    for (const one of sorted) {
      const before = runs.at(-1)?.at(-1);
      const isSame = before !== undefined && minuteOf(one) - minuteOf(before) <= LONGEST_PAUSE_MINUTES;
      if (isSame) runs.at(-1)!.push(one);
      else runs.push([one]);
    }
    return runs.map((run, i) => ({
      firstNs: i === 0 ? nsOf(run[0]) : minuteOf(run[0]) * NS_PER_MINUTE,
      lastNs: i === runs.length - 1 ? nsOf(run.at(-1)!) : (minuteOf(run.at(-1)!) + 1n) * NS_PER_MINUTE,
      bytes: run.reduce((sum, one) => sum + volumeOf(one), 0),
      of: run[0],
    }));
  });
}

/** The bytes of a run in `from <= time < to`. */
function shareOf({ firstNs, lastNs, bytes }: Run, fromNs: bigint, toNs: bigint): number {
  if (firstNs === lastNs) return firstNs >= fromNs && firstNs < toNs ? bytes : 0;
  const start = firstNs > fromNs ? firstNs : fromNs;
  const end = lastNs < toNs ? lastNs : toNs;
  return end <= start ? 0 : (bytes * Number(end - start)) / Number(lastNs - firstNs);
}

async function compareVolumes(world: World, known: readonly DatedEntry[], range: Span): Promise<void> {
  const runs = runsOf(known.filter(({ stream }) => stream.app !== 'c'));
  for (const grouping of GROUPINGS) {
    for (const stepMinutes of [undefined, 7n, 60n, 1440n]) {
      const stepNs = stepMinutes && stepMinutes * NS_PER_MINUTE;
      const query = { matchers: NOT_C, range, grouping, stepNs };
      const { timesMs, series } = await world.insight().volumes(query, who());
      const got = new Map<string, number>();
      for (const { text, bytes, totalBytes } of series) {
        expect(bytes.reduce((sum, one) => sum + (one || 0), 0)).toBe(totalBytes);
        bytes.forEach((value, i) => {
          if (value > 0) got.set(`${text} ${timesMs[i]}`, value);
        });
      }
      const want = new Map<string, number>();
      for (const timeMs of timesMs) {
        const isLast = BigInt(timeMs) === range.endNs / 1_000_000n;
        const toNs = isLast ? range.endNs + 1n : BigInt(timeMs + 1) * 1_000_000n;
        const lengthNs = stepNs ?? range.endNs;
        const beganNs = toNs - 1n - ((toNs - 1n) % lengthNs);
        const fromNs = stepNs === undefined || beganNs < range.startNs ? range.startNs : beganNs;
        for (const run of runs) {
          const share = shareOf(run, fromNs, toNs);
          if (share === 0) continue;
          for (const key of keysOf(run.of, grouping)) {
            want.set(`${key} ${timeMs}`, (want.get(`${key} ${timeMs}`) ?? 0) + share);
          }
        }
      }
      for (const key of new Set([...got.keys(), ...want.keys()])) {
        const off = Math.abs((got.get(key) ?? 0) - (want.get(key) ?? 0));
        // Whole bytes, rounded.
        if (off > 0.5001) throw new Error(`${key}: ${got.get(key)}, want ${want.get(key)}`);
      }
    }
  }
}

async function compareStats(world: World, known: readonly DatedEntry[], range: Span): Promise<void> {
  const hours = 60n * NS_PER_MINUTE;
  const span = {
    startNs: range.startNs - (range.startNs % hours),
    endNs: range.endNs - (range.endNs % hours) + hours - 1n,
  };
  const inside = known.filter(one => nsOf(one) >= span.startNs && nsOf(one) <= span.endNs);
  const counted = inside.filter(({ stream }) => stream.app !== 'c');
  const { streams, bytes, entries } = await world.insight().stats(NOT_C, span, who());
  const sizes = counted.map(
    one =>
      volumeOf(one) +
      Object.keys(one.metadata)
        .filter(name => name === 'detected_level')
        .join('').length,
  );
  expect({ streams, bytes, entries }).toEqual({
    streams: new Set(counted.map(({ stream }) => streamOf(stream).text)).size,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    entries: counted.length,
  });
}

async function compareLabels(world: World, known: readonly DatedEntry[], range: Span): Promise<void> {
  const want: Record<string, Set<string>> = {};
  for (const one of known) {
    if (nsOf(one) < range.startNs || nsOf(one) > range.endNs || one.stream.app === 'c') continue;
    for (const [name, value] of Object.entries(one.stream)) {
      want[name] ??= new Set();
      want[name].add(value);
    }
  }
  const found = await world.insight().detectedLabels(NOT_C, { ...range, endNs: range.endNs + 1n }, who());
  const got = Object.fromEntries(found.map(({ label, cardinality }) => [label, cardinality]));
  const sizes = Object.fromEntries(Object.entries(want).map(([name, values]) => [name, values.size]));
  expect(got).toEqual(sizes);
}

test('volumes, statistics and labels are those of the entries', async () => {
  const property = fc.asyncProperty(
    arbitraryHistory(),
    fc.array(fc.constantFrom('compact', 'sync', 'forget'), { minLength: 6, maxLength: 6 }),
    fc.constantFrom(0, 4096),
    fc.array(arbitrarySpan, { minLength: 2, maxLength: 2 }),
    async (history, work, inlineMaxBytes, spans) => {
      const world = makeWorld({ inlineMaxBytes });
      const whole = { startNs: START_NS, endNs: START_NS + 2880n * NS_PER_MINUTE - 1n };
      const each = Math.ceil(history.length / work.length);
      for (let i = 0; i < work.length; i++) {
        const entries = history.slice(i * each, (i + 1) * each);
        if (entries.length > 0) await world.push(entries);
        const day = DAY + (i % 2);
        if (work[i] === 'compact') await world.compact(day);
        else if (work[i] === 'sync') await world.sync(day);
        else world.forget();
        const known = history.slice(0, (i + 1) * each);
        for (const span of i % 3 === 2 ? [...spans, whole] : [whole]) {
          await compareVolumes(world, known, span);
          await compareStats(world, known, span);
          await compareLabels(world, known, span);
        }
      }
      expect(world.broken).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: 5 });
});
