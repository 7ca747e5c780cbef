/**
 * Pushes over a remote store in virtual time: the number of concurrent group commits adapts to the write
 * latency.
 */
import { describe, expect, test } from '@jest/globals';
import { AWS_LATENCY, modeledPorts } from '../../bench/cloud/modeled-ports.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { Dice } from '../simulation/dice.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';
import { DAY } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';

const SENDERS = 64;
const PUSHES = 20;
const MAX_PAUSE_MS = 40;

/** Average and maximum wait of pushes whose senders wait for each response, ms, without the first ones. */
async function pushing(isDistant: boolean) {
  const time = new VirtualTime(Date.UTC(2026, 0, 1), new Dice(1));
  const inner = { store: memoryObjectStore(), table: memoryTable({ clock: time }) };
  const { store, table } = modeledPorts(inner, time, AWS_LATENCY);
  const ids = seededIds(1);
  const catalog = new Catalog({ table, clock: time, ids });
  const options = {
    waitMs: 2,
    maxGroupBytes: 4 * 1024 * 1024,
    inlineMaxBytes: 0,
    compression: QUICK_COMPRESSION,
  };
  const committer = new GroupCommitter({
    store: { ...store, isDistant },
    catalog,
    clock: time,
    ids,
    options,
  });
  const waits: number[] = [];
  const sender = async (number: number) => {
    const dice = new Dice(number);
    for (let i = 0; i < PUSHES; i++) {
      // Senders pause between pushes; otherwise all of them would be one group.
      await time.sleep(dice.below(MAX_PAUSE_MS));
      const sentMs = time.nowMs();
      const stream = { app: `app-${number}` };
      await committer.commit('t', pushOf([{ stream, day: DAY, time: i, line: `line ${i}`, metadata: {} }]));
      if (i >= PUSHES / 2) waits.push(time.nowMs() - sentMs);
    }
  };
  await time.run(Promise.all(Array.from({ length: SENDERS }, (_, number) => sender(number))));
  return { meanMs: waits.reduce((sum, ms) => sum + ms, 0) / waits.length, slowestMs: Math.max(...waits) };
}

describe('64 agents over a store with a write latency of 68 ms', () => {
  test('get responses nearly as fast as the store', async () => {
    const { meanMs, slowestMs } = await pushing(true);
    expect(meanMs).toBeLessThan(76);
    expect(slowestMs).toBeLessThan(100);
  });

  test('wait for each other with only three concurrent writes', async () => {
    expect((await pushing(false)).meanMs).toBeGreaterThan(80);
  });
});

test('chunks that are stored in their records do not reduce the number of concurrent writes', async () => {
  const time = new VirtualTime(Date.UTC(2026, 0, 1), new Dice(1));
  const inner = { store: memoryObjectStore(), table: memoryTable({ clock: time }) };
  const { store, table } = modeledPorts(inner, time, AWS_LATENCY);
  const ids = seededIds(1);
  let running = 0;
  let most = 0;
  const counted = {
    ...store,
    isDistant: true,
    async putIfAbsent(...put: Parameters<typeof store.putIfAbsent>) {
      most = Math.max(most, ++running);
      const isNew = await store.putIfAbsent(...put);
      running--;
      return isNew;
    },
  };
  const committer = new GroupCommitter({
    store: counted,
    catalog: new Catalog({ table, clock: time, ids }),
    clock: time,
    ids,
    options: {
      waitMs: 2,
      maxGroupBytes: 4 * 1024 * 1024,
      inlineMaxBytes: 4096,
      compression: QUICK_COMPRESSION,
    },
  });
  let pushes = 0;
  const push = (bytes: number) => {
    const dice = new Dice(++pushes);
    const line = Array.from({ length: bytes / 8 }, () => dice.below(2 ** 32).toString(16)).join('');
    return committer.commit(
      't',
      pushOf([{ stream: { app: 'a' }, day: DAY, time: pushes, line, metadata: {} }]),
    );
  };
  await time.run(
    (async () => {
      await push(64 * 1024);
      for (let i = 0; i < 30; i++) await push(64);
      const large: Promise<void>[] = [];
      for (let i = 0; i < 12; i++) {
        large.push(push(64 * 1024));
        await time.sleep(5);
      }
      await Promise.all(large);
    })(),
  );
  expect(most).toBeGreaterThanOrEqual(10);
});
