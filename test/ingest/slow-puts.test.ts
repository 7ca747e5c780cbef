/**
 * Pushes over S3, where one of 100 puts takes ten times as long, in virtual time: their latency, and the
 * number of puts. The store is the one that functions use, over a client that responds from memory.
 */
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../shared/aws/caller.ts';
import { createHedger, type Hedger, PUT_HEDGES } from '../../shared/aws/hedge.ts';
import { s3ObjectStore } from '../../shared/aws/s3-object-store.ts';
import type { S3Requests } from '../../shared/aws/s3-requests.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { Dice } from '../simulation/dice.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

const PUT_MS = 60;
const JITTER_MS = 10;
const SLOW_FACTOR = 10;
const SLOW_EVERY = 100;
const SENDERS = 16;
const PUSHES = 120;
/** Excludes the first pushes, before the usual latency is known. */
const WARM_UP = 20;

interface Settings {
  readonly hasTail: boolean;
  readonly hedges: boolean;
}

class TakenError extends Error {
  readonly $metadata = { httpStatusCode: 412 };
}

/** S3 client whose requests take virtual time; puts are counted. */
function timedClient(time: VirtualTime, { hasTail }: Settings) {
  const ids = new Map<string, string>();
  const dice = new Dice(1);
  const client = {
    puts: 0,
    heads: 0,
    async head(key: string, signal: AbortSignal) {
      client.heads++;
      await time.sleep(PUT_MS / 2, signal);
      return { size: 0, putId: ids.get(key) };
    },
    async put(key: string, _body: Uint8Array, putId: string | undefined, signal: AbortSignal) {
      const isSlow = ++client.puts % SLOW_EVERY === 0 && hasTail;
      const ms = (PUT_MS + dice.below(JITTER_MS)) * (isSlow ? SLOW_FACTOR : 1);
      // The put takes effect before its response: a slow response of a completed put is the harder case.
      const isEarly = dice.chance(0.5);
      await time.sleep(isEarly ? 1 : ms - 1, signal);
      const isTaken = ids.has(key);
      if (!isTaken) ids.set(key, putId!);
      await time.sleep(isEarly ? ms - 1 : 1, signal);
      if (isTaken) throw new TakenError('taken');
    },
  };
  return client;
}

const oneAttempt: Caller = ({ signal = new AbortController().signal }, attempt) =>
  attempt({ signal, mayHaveHappened: false });

/** Push latencies in ascending order, ms, and the number of requests. */
async function pushing(settings: Settings) {
  const time = new VirtualTime(Date.UTC(2026, 0, 1), new Dice(1));
  const client = timedClient(time, settings);
  const puts: Hedger | undefined = settings.hedges ? createHedger({ clock: time, ...PUT_HEDGES }) : undefined;
  const ids = seededIds(1);
  const store = s3ObjectStore({
    requests: client as unknown as S3Requests,
    bucket: 'logs',
    call: oneAttempt,
    ids,
    puts,
  });
  const catalog = new Catalog({ table: memoryTable({ clock: time }), clock: time, ids });
  const options = {
    waitMs: 2,
    maxGroupBytes: 4 * 1024 * 1024,
    inlineMaxBytes: 0,
    compression: QUICK_COMPRESSION,
  };
  let groups = 0;
  const onWritten = () => groups++;
  const committer = new GroupCommitter({ store, catalog, clock: time, ids, options, onWritten });
  const waits: number[] = [];
  const sender = async (number: number) => {
    const dice = new Dice(number);
    for (let i = 0; i < PUSHES; i++) {
      await time.sleep(dice.below(2 * PUT_MS));
      const sentMs = time.nowMs();
      const stream = { app: `app-${number}` };
      await committer.commit('t', pushOf([{ stream, day: DAY, time: i, line: `line ${i}`, metadata: {} }]));
      if (i >= WARM_UP) waits.push(time.nowMs() - sentMs);
    }
  };
  await time.run(Promise.all(Array.from({ length: SENDERS }, (_, number) => sender(number))));
  waits.sort((a, b) => a - b);
  return { p99Ms: waits[Math.floor(waits.length * 0.99)], slowestMs: waits.at(-1)!, groups, ...client };
}

describe('pushes with one slow put in 100', () => {
  test('take less than twice as long in the 99th percentile, for few extra puts', async () => {
    const usual = await pushing({ hasTail: false, hedges: true });
    const { p99Ms, slowestMs, puts, groups } = await pushing({ hasTail: true, hedges: true });
    expect(p99Ms).toBeLessThanOrEqual(2 * usual.p99Ms);
    // A hedge may be slow itself, and one that gets "exists" checks the owner of the object.
    expect(slowestMs).toBeLessThan(4 * usual.p99Ms);
    expect(puts).toBeGreaterThan(groups);
    expect(puts).toBeLessThanOrEqual(1.06 * groups);
  });

  test('send no put twice if the store is always fast', async () => {
    const { puts, groups, heads } = await pushing({ hasTail: false, hedges: true });
    expect(puts).toBeLessThanOrEqual(1.01 * groups);
    expect(heads).toBeLessThanOrEqual(0.01 * groups);
  });

  test('wait for the slow put without hedges', async () => {
    const { slowestMs, puts, groups } = await pushing({ hasTail: true, hedges: false });
    expect(slowestMs).toBeGreaterThan(PUT_MS * SLOW_FACTOR);
    expect(puts).toBe(groups);
  });
});
