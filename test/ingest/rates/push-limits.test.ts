/** Pushes through the whole service: response, stored entries and messages if several limits apply. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import { IngestExchange } from '../../../shared/storage/catalog/ingest-exchange.ts';
import { PUSH_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../../shared/write/ingest/group-commit.ts';
import { lokiReceiver } from '../../../shared/write/ingest/loki-receiver.ts';
import type { Received, Refused } from '../../../shared/write/ingest/observer.ts';
import { type PushOutcome, PushService } from '../../../shared/write/ingest/push.ts';
import { IngestRates } from '../../../shared/write/ingest/rates/ingest-rates.ts';
import { chunksOf } from '../../support/chunks-of.ts';
import { countingIds, manualClock } from '../../support/manual-clock.ts';

const BODY_LIMITS = { maxBodyBytes: 10_000_000, maxDecompressedBytes: 10_000_000 };
const KB = 1024;
/** Bursts of 8 KiB for the tenant and 2 KiB for a stream, two streams; lines end at 4 KiB. */
const LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  ingestionRateMb: 1 / KB,
  ingestionBurstSizeMb: 8 / KB,
  perStreamRateLimit: 1 * KB,
  perStreamRateLimitBurst: 2 * KB,
  maxGlobalStreamsPerUser: 2,
  maxLineSize: 4 * KB,
  discoverServiceName: [],
  discoverLogLevels: false,
};

interface Line {
  readonly app: string;
  readonly bytes: number;
  readonly metadata?: Record<string, string>;
}

function service() {
  const clock = manualClock();
  const table = memoryTable({ clock });
  const catalog = new Catalog({ table, clock, ids: countingIds() });
  const received: Received[] = [];
  const refused: Refused[] = [];
  const store = memoryObjectStore();
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: PUSH_COMPRESSION };
  const pushes = new PushService({
    committer: new GroupCommitter({ store, catalog, clock, ids: countingIds(), options }),
    clock,
    observer: { received: event => received.push(event), refused: event => refused.push(event) },
    rates: new IngestRates({ exchange: new IngestExchange({ table, clock }), clock, ids: countingIds() }),
  });
  const push = async (lines: readonly Line[], limits: Limits = LIMITS): Promise<PushOutcome> => {
    const timestamp = String(clock.nowNs());
    const streams = lines.map(({ app, bytes, metadata }) => ({
      stream: { app },
      values: [[timestamp, 'x'.repeat(bytes), ...(metadata === undefined ? [] : [metadata])]],
    }));
    return pushes.push(
      {
        tenant: 't',
        body: Buffer.from(JSON.stringify({ streams })),
        contentType: 'application/json',
        contentEncoding: undefined,
        receiver: lokiReceiver('application/json', false),
      },
      limits,
      BODY_LIMITS,
    );
  };
  const rows = async () => {
    const records = await chunksOf(catalog, 't', 0n, 2n ** 62n);
    return records.reduce((sum, record) => sum + record.rows, 0);
  };
  return { push, rows, clock, received, refused };
}

const RATE = /^ingestion rate limit exceeded for user t /;
const STREAM_RATE =
  /^entry with timestamp 2026-01-01 00:00:00 \+0000 UTC ignored, reason: 'Per stream rate limit/;
const STREAM_LIMIT = /^maximum active stream limit exceeded when trying to create stream \{app="(\w)"\}, /;
const TOO_LONG = /^max entry size '4096' bytes exceeded for stream '\{app="a"\}'/;

describe('one push', () => {
  test.each<
    [name: string, lines: Line[], error: [number, RegExp] | undefined, stored: number[], reasons: string[]]
  >([
    [
      'within all limits',
      [
        { app: 'a', bytes: 10 },
        { app: 'b', bytes: 10 },
      ],
      undefined,
      [0, 1],
      [],
    ],
    [
      'over the tenant’s burst',
      [1, 2, 3, 4].map(i => ({ app: `a${i}`, bytes: 2048 + 1 })),
      [429, RATE],
      [],
      ['rate_limited 4'],
    ],
    [
      'over the tenant’s burst, and partly invalid',
      [{ app: 'a', bytes: 5000 }, ...[1, 2, 3, 4].map(i => ({ app: `a${i}`, bytes: 2048 + 1 }))],
      [429, RATE],
      [],
      ['line_too_long 1', 'rate_limited 4'],
    ],
    [
      'a stream over its burst',
      [
        { app: 'a', bytes: 2049 },
        { app: 'b', bytes: 2048 },
      ],
      [429, STREAM_RATE],
      [1],
      ['per_stream_rate_limit 1'],
    ],
    [
      'a stream over its burst by its metadata',
      [{ app: 'a', bytes: 2046, metadata: { k: 'vv' } }],
      [429, STREAM_RATE],
      [],
      ['per_stream_rate_limit 1'],
    ],
    [
      'too many streams, the last one told',
      ['a', 'b', 'c', 'd'].map(app => ({ app, bytes: 1 })),
      [429, /create stream \{app="d"\}/],
      [0, 1],
      ['stream_limit 2'],
    ],
    [
      'too many streams, and one of the others over its burst',
      [
        { app: 'a', bytes: 3000 },
        { app: 'b', bytes: 1 },
        { app: 'c', bytes: 1 },
      ],
      [429, STREAM_RATE],
      [1],
      ['stream_limit 1', 'per_stream_rate_limit 1'],
    ],
    [
      'too many streams, and an invalid entry',
      [
        { app: 'a', bytes: 5000 },
        { app: 'b', bytes: 1 },
        { app: 'c', bytes: 1 },
        { app: 'd', bytes: 1 },
      ],
      [429, STREAM_LIMIT],
      [1, 2],
      ['line_too_long 1', 'stream_limit 1'],
    ],
    [
      'an invalid entry alone',
      [
        { app: 'a', bytes: 5000 },
        { app: 'a', bytes: 1 },
      ],
      [400, TOO_LONG],
      [1],
      ['line_too_long 1'],
    ],
    ['nothing valid takes nothing', [{ app: 'a', bytes: 5000 }], [400, TOO_LONG], [], ['line_too_long 1']],
  ])('%s', async (_, lines, want, stored, reasons) => {
    const { push, rows, refused, received } = service();
    const outcome = await push(lines);
    expect([...outcome.stored]).toEqual(stored);
    expect(outcome.error?.status).toBe(want?.[0]);
    expect(outcome.error?.message ?? '').toMatch(want?.[1] ?? /^$/);
    expect(await rows()).toBe(stored.length);
    expect(refused.map(({ reason, lines: count }) => `${reason} ${count}`).sort()).toEqual(
      [...reasons].sort(),
    );
    const storedBytes = stored.reduce((sum, entry) => sum + lines[entry].bytes, 0);
    expect(received.reduce((sum, { lineBytes }) => sum + lineBytes, 0)).toBe(storedBytes);
    expect(received.reduce((sum, event) => sum + event.lines, 0)).toBe(stored.length);
  });
});

test('the response names the limit, lines and bytes, and refused bytes are counted', async () => {
  const { push, refused } = service();
  const lines = [0, 1, 2, 3, 4].map(i => ({ app: `a${i}`, bytes: 2000, metadata: { k: 'v' } }));
  const { error } = await push(lines);
  expect(error?.message).toBe(
    "ingestion rate limit exceeded for user t (limit: 1024 bytes/sec) while attempting to ingest '5' lines totaling '10010' bytes, reduce log volume or contact your Loki administrator to see if the limit can be increased",
  );
  expect(refused).toEqual([
    { tenant: 't', format: 'loki', policy: '', reason: 'rate_limited', lines: 5, bytes: 10_010 },
  ]);
});

test('a refused push is not treated as a repeat of a stored one', async () => {
  const { push, rows, clock } = service();
  const half = [
    { app: 'a', bytes: 2048 },
    { app: 'b', bytes: 2048 },
  ];
  const whole = [...half, { app: 'c', bytes: 2048 }, { app: 'd', bytes: 2048 }];
  const limits = { ...LIMITS, maxGlobalStreamsPerUser: 0 };
  expect((await push(half, limits)).error).toBeUndefined();
  const refused = await push(whole, limits);
  expect(refused.error?.message).toMatch(RATE);
  expect(await rows()).toBe(2);
  clock.advance(10_000);
  expect((await push(whole, limits)).error).toBeUndefined();
  expect(await rows()).toBe(6);
});

test('a repeat of a stored push is not counted', async () => {
  const { push } = service();
  const lines = [{ app: 'a', bytes: 2000 }];
  for (let i = 0; i < 20; i++) expect((await push(lines)).error).toBeUndefined();
});
