/**
 * Datasets of the modeled store: the project's own corpus (bench/corpus.ts) over a day, over thirty days,
 * and as small pushes that were not merged. The needle is in one of sixteen batches, so that it is as rare as
 * typical search terms.
 */

import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import type { PushedStream } from '../../test/end-to-end/support/push.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches, NEEDLE } from '../corpus.ts';

const NEEDLE_EVERY = 16;

export interface Dataset {
  readonly name: string;
  /** Unix ns of the first entry, and the end after the last one. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly isMerged: boolean;
  pushes(): Iterable<readonly PushedStream[]>;
}

/** One day, from 1:00 to 23:00. */
export function oneDay(mb: number): Dataset {
  const startNs = CORPUS_START_NS + 3600_000_000_000n;
  const endNs = startNs + 22n * CORPUS_NS;
  const spread = (ns: bigint) => startNs + (ns - CORPUS_START_NS) * 22n;
  return { name: 'one day', startNs, endNs, isMerged: true, pushes: () => batches(mb, spread) };
}

/** `mbOfDay` on each of `days`, starting with the corpus's day. */
export function manyDays(days: number, mbOfDay: number): Dataset {
  return {
    name: `${days} days`,
    startNs: CORPUS_START_NS,
    endNs: CORPUS_START_NS + BigInt(days) * NS_PER_DAY,
    isMerged: true,
    *pushes() {
      for (let day = 0; day < days; day++) {
        const startNs = CORPUS_START_NS + BigInt(day) * NS_PER_DAY;
        yield* batches(mbOfDay, ns => startNs + (ns - CORPUS_START_NS) * 23n, day + 1);
      }
    },
  };
}

/** One hour in pushes of 10 KB each. */
export function unmerged(pushes: number): Dataset {
  const linesOfPush = 50;
  return {
    name: 'unmerged',
    startNs: CORPUS_START_NS,
    endNs: CORPUS_START_NS + CORPUS_NS,
    isMerged: false,
    *pushes() {
      let left = pushes;
      for (const batch of batches(pushes / 50, ns => ns)) {
        for (const { labels, entries } of batch) {
          for (let from = 0; from < entries.length && left > 0; from += linesOfPush, left--) {
            yield [{ labels, entries: entries.slice(from, from + linesOfPush) }];
          }
        }
      }
    },
  };
}

function* batches(mb: number, at: (ns: bigint) => bigint, seed = 1): Generator<readonly PushedStream[]> {
  let number = 0;
  for (const { streams } of generateBatches(mb, seed)) {
    const other = `needle-${(number * 7919 + seed).toString(16).padStart(6, '0')}`;
    const isNeedle = number++ % NEEDLE_EVERY === 0;
    yield streams.map(({ labels, entries }) => ({
      labels,
      entries: entries.map(({ ns, line }) => ({
        ns: at(ns),
        line: isNeedle ? line : line.replace(NEEDLE, other),
      })),
    }));
  }
}
