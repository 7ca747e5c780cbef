/**
 * Bodies are decompressed into buffers that are reused after each push. With many concurrent pushes, some
 * refused and some with store failures, the stored entries equal the sent ones.
 */
import { expect, test } from '@jest/globals';
import { faultyObjectStore } from '../../shared/base/ports/faulty/object-store.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { PUSH_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { PushService } from '../../shared/write/ingest/push.ts';
import { PROTOBUF_TYPE, snappyPush } from '../end-to-end/support/push.ts';
import { DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { NO_OBSERVER } from '../support/no-observer.ts';

const PUSHES = 60;
const ENTRIES = 400;
const WORKERS = 30;

/** 80 KiB and more: smaller bodies are not pooled. */
function linesOf(push: number): string[] {
  return Array.from({ length: ENTRIES }, (_, i) => `push ${push} line ${i} ${String(push % 10).repeat(200)}`);
}

test('concurrent pushes do not mix, for any result of the others', async () => {
  const faults = {
    seed: 7,
    clock: SYSTEM_CLOCK,
    errorBefore: 0.1,
    errorAfter: 0.1,
    throttle: 0.1,
    delayMs: [0, 3] as const,
  };
  const store = memoryObjectStore();
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 100_000, inlineMaxBytes: 0, compression: PUSH_COMPRESSION };
  const committer = new GroupCommitter({
    store: faultyObjectStore(store, faults),
    catalog,
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
    options,
  });
  const service = new PushService({ committer, clock: SYSTEM_CLOCK, observer: NO_OBSERVER });
  const limits = {
    ...requester().limits,
    rejectOldSamples: false,
    maxLineSize: 1000,
    maxEntriesLimitPerQuery: 0,
  };
  const bodyLimits = { maxBodyBytes: 10_000_000, maxDecompressedBytes: 10_000_000 };

  const push = async (number: number): Promise<void> => {
    const entries = linesOf(number).map((line, i) => {
      const ns = DAY_START_NS + BigInt(i);
      return { ns, line, metadata: { push: `${number}` } };
    });
    // Every fifth is refused in part: its last line is too long.
    if (number % 5 === 0) entries.push({ ns: DAY_START_NS, line: 'x'.repeat(2000), metadata: { push: 'x' } });
    const body = Buffer.from(snappyPush([{ labels: { app: 'a' }, entries }]));
    const request = {
      tenant: 't',
      body,
      contentType: PROTOBUF_TYPE,
      contentEncoding: undefined,
      receiver: lokiReceiver(PROTOBUF_TYPE, false),
    };
    for (;;) {
      try {
        const { error } = await service.push(request, limits, bodyLimits);
        return expect(error === undefined).toBe(number % 5 !== 0);
      } catch {
        // The stores failed: it is pushed again.
      }
    }
  };
  // Each starts while others wait for their time slice or their disk.
  const worker = async (first: number): Promise<void> => {
    for (let number = first; number < PUSHES; number += WORKERS) await push(number);
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, first) => worker(first)));

  const source = new ChunkSource(store);
  const engine = new QueryEngine({ catalog, source, clock: SYSTEM_CLOCK });
  const query = rangeQuery('{app="a"}', { limit: PUSHES * ENTRIES + 1 });
  const { result } = await engine.range(query, requester({ limits }));
  if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
  const stored = result.streams.flatMap(({ labels, entries }) => {
    const number = labels.find(({ name }) => name === 'push')?.value;
    return entries.map(({ line }) => `${number}: ${line}`);
  });
  const want = Array.from({ length: PUSHES }, (_, n) => linesOf(n).map(line => `${n}: ${line}`)).flat();
  expect(stored.sort()).toEqual(want.sort());
});
