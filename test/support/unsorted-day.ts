/**
 * Pushes of one hour, and merges that copy pages, so that chunks have pages in no order of their rows: of every line syntax, of
 * streams over and under the size from which a run is copied, with equal timestamps, repeated entries and unusual lines.
 */
import { labelsOf } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { streamHash } from '../../shared/base/model/stream-hash.ts';
import { MS_PER_DAY, NS_PER_MS, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { dayLease } from '../../shared/storage/catalog/leases.ts';
import { mergeAndSwap } from '../../shared/upkeep/compaction/merge-and-swap.ts';
import { ChunkOrder } from '../../shared/upkeep/compaction/order-runs.ts';
import { MergeDrops } from '../../shared/upkeep/deletion/merge-drops.ts';
import { START_MS, type TestProcess, type TestStores } from '../maintenance/store.ts';
import { Dice } from '../simulation/dice.ts';
import { TINY_MERGE_SIZES } from './merge-sizes.ts';

export const TENANT = 'acme';
export const HEADERS = { 'x-scope-orgid': TENANT };
/** The day before the one on which the clock of `testStores` begins. */
export const DAY = START_MS / MS_PER_DAY - 1;
/** Entries are in the 4 minutes from here on. */
export const FROM_NS = BigInt(START_MS - 3 * 3_600_000) * NS_PER_MS;
export const TO_NS = FROM_NS + 240n * NS_PER_SECOND;
/** Half of it ends a page where a stream ends, and is split. A copied page has runs of 2 KiB on average. */
export const PAGE_BYTES = 128 * 1024;

export interface PushedEntry {
  readonly labels: Readonly<Record<string, string>>;
  readonly timeNs: bigint;
  readonly line: string;
  readonly metadata: Readonly<Record<string, string>>;
}

type LineOf = (dice: Dice, n: number) => string;

const jsonLine: LineOf = (dice, n) =>
  JSON.stringify({
    level: dice.pick(['info', 'warn', 'error']),
    n,
    user: `u-${n % 7}`,
    took: `${n % 90}ms`,
    ...(n % 5 === 0 ? { nested: { key: `ü "${n}"`, list: [n, null] } } : {}),
  });
const logfmtLine: LineOf = (dice, n) =>
  `level=${dice.pick(['info', 'debug', 'error'])} n=${n} user=u-${n % 7} msg="request ${n} done in ${n % 90}ms"`;
const textLine: LineOf = (dice, n) =>
  `10.0.${n % 4}.${n % 200} - - "GET /path/${dice.below(9)}?id=${n} HTTP/1.1" ${dice.pick([200, 404, 503])} ${n * 17}`;
const stackLine: LineOf = (dice, n) =>
  `java.lang.IllegalStateException: request ${n}\n\tat com.example.A.run(A.java:${dice.below(90)})\r\n\tat com.example.B.go(B.java:${n % 50})\n`;
const ODD_LINES = [
  '',
  ' ',
  '\0',
  'a\0b\0',
  '\ufffd\ufffd text \u{1f600}',
  '{"level":"info","n":',
  '{}',
  '=',
  'k=',
  '"quoted, with comma"',
  '\r\n',
  '{"a":1}\n{"a":2}',
  '\u017folder \u212aelvin',
];

/** Each stream has lines of one kind, but for `mixed`. */
const KINDS: Readonly<Record<string, LineOf>> = {
  json: jsonLine,
  logfmt: logfmtLine,
  text: textLine,
  stack: stackLine,
  odd: dice => dice.pick(ODD_LINES),
  long: (dice, n) =>
    dice.chance(0.15) ? `${n} ${'long line '.repeat(dice.between(300, 900))}` : `short ${n}`,
  mixed: (dice, n) => dice.pick([jsonLine, logfmtLine, textLine, stackLine])(dice, n),
};
/** Streams that fill pages, and their rows in a push. */
const LARGE_KINDS: ReadonlySet<string> = new Set(['json', 'logfmt', 'text']);
const LARGE_ROWS = 580;
const TINY_STREAMS = 70;

/** Pushes in their order. Those of one part of the minutes follow each other; some come late. */
export function pushesOf(seed: number, count = 10): PushedEntry[][] {
  const dice = new Dice(seed);
  const pushes: PushedEntry[][] = [];
  let n = 0;
  for (let i = 0; i < count; i++) {
    const timeNs = (lateBy: number) => {
      const second = Math.max(0, i - lateBy) * 15 + dice.below(15);
      return FROM_NS + BigInt(second) * NS_PER_SECOND + BigInt(dice.pick([0, 0, 1]));
    };
    const late = i % 6 === 5 ? dice.pick(Object.keys(KINDS)) : undefined;
    const push: PushedEntry[] = [];
    for (const [kind, lineOf] of Object.entries(KINDS)) {
      // Some lines come late, and share timestamps with those before.
      const lateBy = kind === late ? 4 : 0;
      const isLarge = LARGE_KINDS.has(kind);
      const labels = { app: kind, pod: '1', service_name: kind };
      for (let row = isLarge ? LARGE_ROWS : dice.between(3, 14); row > 0; row--) {
        const metadata: Record<string, string> = dice.chance(0.6) ? { trace: `t-${dice.below(6)}` } : {};
        if (dice.chance(0.1)) metadata.note = `ü, "${n}"\n`;
        push.push({ labels, timeNs: timeNs(lateBy), line: lineOf(dice, n++), metadata });
      }
    }
    for (let t = 0; t < TINY_STREAMS; t++) {
      const labels = { app: 'tiny', pod: `${t}`, service_name: 'tiny' };
      push.push({ labels, timeNs: timeNs(0), line: `tick ${n++ % 10}`, metadata: {} });
    }
    const repeated = dice.pick(Object.keys(KINDS));
    if (i % 4 === 3)
      push.push(...dice.pick(pushes).filter(({ labels }) => labels.app === repeated && dice.chance(0.3)));
    pushes.push(push);
  }
  return pushes;
}

export async function pushEntries(
  { ask }: TestProcess,
  entries: readonly PushedEntry[],
  tenant = TENANT,
): Promise<void> {
  const streams = new Map<string, { stream: PushedEntry['labels']; values: unknown[] }>();
  for (const { labels, timeNs, line, metadata } of entries) {
    const key = JSON.stringify(labels);
    const one = streams.get(key) ?? { stream: labels, values: [] };
    streams.set(key, one);
    one.values.push([`${timeNs}`, line, metadata]);
  }
  const { status, body } = await ask('POST', '/loki/api/v1/push', {
    headers: { 'x-scope-orgid': tenant, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ streams: [...streams.values()] })),
  });
  if (status !== 204) throw new Error(`${status}: ${body}`);
}

/** Every entry once, in the order of a forward query. */
export function inOrder(pushes: readonly (readonly PushedEntry[])[]): PushedEntry[] {
  const first = new Map<string, PushedEntry>();
  for (const entry of pushes.flat()) {
    const key = keyOf(entry);
    if (!first.has(key)) first.set(key, entry);
  }
  const hashes = new Map([...first.values()].map(({ labels }) => [labels, streamHash(labelsOf(labels))]));
  const compare = <T>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);
  return [...first.values()].sort(
    (a, b) => compare(a.timeNs, b.timeNs) || compare(hashes.get(a.labels)!, hashes.get(b.labels)!),
  );
}

export function keyOf({ labels, timeNs, line, metadata }: PushedEntry): string {
  return JSON.stringify([labels, `${timeNs}`, line, Object.entries(metadata).sort()]);
}

interface MergeGiven {
  /** Raw bytes of the lines of a page. */
  readonly pageBytes?: number;
  readonly level?: number;
  /** Parts of the streams. */
  readonly parts?: number;
  /** Which chunks of the day, by age. Default: all. */
  readonly chosen?: (record: ChunkRecord, index: number) => boolean;
  readonly seed?: number;
}

/** Merges chunks of the day as far as their order allows. Returns the number of copied pages. */
export async function mergeDay(
  { catalog }: Pick<TestProcess, 'catalog'>,
  { clock, store }: Pick<TestStores, 'clock' | 'store'>,
  { pageBytes = PAGE_BYTES, level = 2, parts = 1, chosen = () => true, seed = 7 }: MergeGiven = {},
): Promise<number> {
  const limitsOf = () => ({ ...DEFAULT_LIMITS, deletionMode: 'filter-and-delete' as const });
  const drops = new MergeDrops({ deletes: catalog.deletes, clock, limitsOf, isEnabled: true });
  const mergeSizes = { ...TINY_MERGE_SIZES, pageBytes, indexedFromBytes: 0, finalFromBytes: 0 };
  const options = { targetBytes: 1e9, inlineMaxBytes: 0, graceMs: 1000, mergeSizes, minesPatterns: true };
  const merging = { catalog, store, clock, ids: seededIds(seed), options };
  const lease = (await catalog.leases.take(dayLease(TENANT, DAY), 60_000))!;
  let snapshot = (await catalog.day(TENANT, DAY))!;
  let copied = 0;
  for (const inputs of new ChunkOrder(snapshot.records).runs(snapshot.records.filter(chosen))) {
    const merged = await mergeAndSwap(merging, {
      tenant: TENANT,
      lease,
      level,
      quality: 'final',
      parts,
      inputs,
      drops: await drops.dropsOf(TENANT),
      signal: new AbortController().signal,
      snapshot,
      hold: async () => undefined,
    });
    snapshot = merged.after;
    copied += merged.copied.pages;
  }
  await catalog.leases.release(lease);
  return copied;
}

/** Pushes and merges as a day does: each two pushes, then all. Returns the number of copied pages. */
export async function fillDay(
  process: TestProcess,
  stores: TestStores,
  pushes: readonly (readonly PushedEntry[])[],
): Promise<number> {
  for (const [i, push] of pushes.entries()) {
    await pushEntries(process, push);
    await stores.clock.advance(1000);
    if (i % 2 === 1) await mergeDay(process, stores, { chosen: ({ level }) => level === 0, seed: i });
  }
  return mergeDay(process, stores, { level: 3, seed: 100 });
}
