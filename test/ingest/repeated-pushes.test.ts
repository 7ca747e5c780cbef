/** Repeated pushes: equal entries inside one body, and bodies that were or were not stored the first time. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { PUSH_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { PushService } from '../../shared/write/ingest/push.ts';
import { DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { countingIds, manualClock } from '../support/manual-clock.ts';
import { NO_OBSERVER } from '../support/no-observer.ts';

type Value = [ns: bigint, line: string, metadata?: Record<string, string>];

const LIMITS: Limits = { ...DEFAULT_LIMITS, rejectOldSamples: false, discoverLogLevels: false };
const BODY_LIMITS = { maxBodyBytes: 10_000, maxDecompressedBytes: 10_000 };
const T = DAY_START_NS;

function store() {
  const clock = manualClock();
  const ids = countingIds();
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const objects = memoryObjectStore();
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: PUSH_COMPRESSION };
  const committer = new GroupCommitter({ store: objects, catalog, clock, ids, options });
  const service = new PushService({ committer, clock, observer: NO_OBSERVER });
  const engine = new QueryEngine({ catalog, source: new ChunkSource(objects), clock });
  return {
    push: (values: readonly Value[], limits: Partial<Limits> = {}) => {
      const streams = [
        { stream: { app: 'a' }, values: values.map(([ns, ...rest]) => [String(ns), ...rest]) },
      ];
      const contentType = 'application/json';
      const body = Buffer.from(JSON.stringify({ streams }));
      const receiver = lokiReceiver(contentType, false);
      const request = { tenant: 't', body, contentType, contentEncoding: undefined, receiver };
      return service.push(request, { ...LIMITS, ...limits }, BODY_LIMITS);
    },
    forget: (tenant: string) => service.forget(tenant),
    lines: async () => {
      const { result } = await engine.range(rangeQuery('{app="a"}', { startNs: T - 10n }), requester());
      if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
      return result.streams.flatMap(({ entries }) => entries.map(({ line }) => line)).sort();
    },
  };
}

describe('equal entries of one push are one', () => {
  const rows: [string, Value[], Partial<Limits>, string[]][] = [
    [
      'side by side',
      [
        [T, 'x'],
        [T, 'x'],
      ],
      {},
      ['x'],
    ],
    [
      'apart',
      [
        [T, 'x'],
        [T, 'y'],
        [T, 'x'],
      ],
      {},
      ['x', 'y'],
    ],
    [
      'with metadata',
      [
        [T, 'x', { a: '1' }],
        [T, 'x', { a: '1' }],
        [T, 'x', { a: '2' }],
      ],
      {},
      ['x', 'x'],
    ],
    [
      'on two days',
      [
        [T, 'x'],
        [T - 1n, 'w'],
        [T, 'x'],
        [T - 1n, 'w'],
      ],
      {},
      ['w', 'x'],
    ],
    [
      'moved apart',
      [
        [T, 'x'],
        [T, 'y'],
        [T, 'y'],
      ],
      { incrementDuplicateTimestamp: true },
      ['x', 'y'],
    ],
    ['more than are compared in pairs', Array.from({ length: 20 }, (): Value => [T, 'x']), {}, ['x']],
  ];
  test.each(rows)('%s', async (_, values, limits, want) => {
    const { push, lines } = store();
    const { stored, error } = await push(values, limits);
    expect([stored.length, error]).toEqual([values.length, undefined]);
    expect(await lines()).toEqual(want);
  });
});

describe('a repeated body', () => {
  const until = { ns: 2n ** 62n, text: '2116-02-20T23:53:38Z' };

  test('is acknowledged without storing it again if it was stored completely', async () => {
    const { push } = store();
    expect((await push([[T, 'x']])).stored.length).toBe(1);
    expect((await push([[T, 'x']])).stored.length).toBe(0);
  });

  test('is stored if the tenant was evicted meanwhile, also while the first is in progress', async () => {
    const { push, forget } = store();
    await push([[T, 'x']]);
    forget('other');
    expect((await push([[T, 'x']])).stored.length).toBe(0);
    forget('t');
    const late = push([[T, 'x']]);
    forget('t');
    expect((await late).stored.length).toBe(1);
    expect((await push([[T, 'x']])).stored.length).toBe(1);
    expect((await push([[T, 'x']])).stored.length).toBe(0);
  });

  test('is stored if more tenants were evicted than are remembered', async () => {
    const { push, forget } = store();
    forget('t');
    await push([[T, 'x']]);
    for (let i = 0; i < 10_000; i++) forget(`other-${i}`);
    expect((await push([[T, 'x']])).stored.length).toBe(1);
  });

  test.each([200, 260])('is stored if it was blocked with status %d', async blockIngestionStatusCode => {
    const { push, lines } = store();
    const first = await push([[T, 'x']], { blockIngestionUntil: until, blockIngestionStatusCode });
    expect([first.stored.length, first.error?.status ?? 200]).toEqual([0, blockIngestionStatusCode]);
    expect(await lines()).toEqual([]);
    expect((await push([[T, 'x']])).stored.length).toBe(1);
    expect(await lines()).toEqual(['x']);
  });
});
