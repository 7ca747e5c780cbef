/** Large pushes in the thread beside the main one, over a real store: what becomes of them, and what is told, is as it is here. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PushThread } from '../../local/push-thread-client.ts';
import { openStorage } from '../../local/storage.ts';
import { systemClock, systemIds } from '../../local/system-clock.ts';
import { Catalog } from '../../shared/catalog/catalog.ts';
import { IngestExchange } from '../../shared/catalog/ingest-exchange.ts';
import { DEFAULT_GROUP_COMMIT } from '../../shared/ingest/group-commit.ts';
import type { Inlet } from '../../shared/ingest/inlet.ts';
import { DEFAULT_FIELDS } from '../../shared/ingest/inlets/field-options.ts';
import { jsonLinesInlet } from '../../shared/ingest/inlets/json-lines-inlet.ts';
import { lokiInlet } from '../../shared/ingest/loki-inlet.ts';
import { otlpInlet } from '../../shared/ingest/otlp/otlp-inlet.ts';
import { MAYBE_LONG_BYTES, PushService } from '../../shared/ingest/push.ts';
import type { PushHub } from '../../shared/ingest/push-hub.ts';
import { IngestRates } from '../../shared/ingest/rates/ingest-rates.ts';
import { BadRequestError, ClientError, messageOf, TooLargeError } from '../../shared/model/errors.ts';
import { DEFAULT_LIMITS, type Limits } from '../../shared/model/limits.ts';
import { ThrottledError } from '../../shared/ports/throttled.ts';
import { ChunkSource } from '../../shared/query/chunk-source.ts';
import { QueryEngine } from '../../shared/query/engine.ts';
import { TenantLoad } from '../../shared/query/tenant-load.ts';
import { ObservedCommitter } from '../../shared/usage/observed-committer.ts';
import { protobufPush, snappyPush } from '../end-to-end/support/push.ts';
import { asker, DAY_START_NS, rangeQuery } from '../support/engine.ts';

const BODY_LIMITS = { maxBodyBytes: 4_000_000, maxDecompressedBytes: 3_000_000 };
/** Bursts of 2 MB for the tenant and 1 MB for a stream, which do not fill again; three streams. */
const LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  rejectOldSamples: false,
  maxLineSize: 2000,
  maxQueryLengthNs: 0n,
  maxEntriesLimitPerQuery: 0,
  ingestionRateMb: 1e-6,
  ingestionBurstSizeMb: 2,
  perStreamRateLimit: 1,
  perStreamRateLimitBurst: 1024 * 1024,
  maxGlobalStreamsPerUser: 3,
};

interface Sent {
  readonly inlet: Inlet;
  readonly body: Uint8Array;
  readonly contentType?: string;
  readonly contentEncoding?: string;
}

interface WorldOptions {
  /** All pushes that may go to the thread do. */
  readonly usesThread: boolean;
  /** Where the thread looks for its store; default: where it is. */
  readonly threadDir?: string;
  readonly entry?: URL;
  readonly hub?: Partial<PushHub>;
  readonly maxPushBytes?: number;
}

const worlds: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of worlds.splice(0)) await end();
});

async function world({ usesThread, entry, hub: given, threadDir, maxPushBytes }: WorldOptions) {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-push-thread-'));
  const options = { kind: 'embedded', dataDir } as const;
  const storage = await openStorage(options);
  const parts = { clock: systemClock, ids: systemIds };
  const catalog = new Catalog({ table: storage.table, ...parts });
  const rates = new IngestRates({
    ...parts,
    exchange: new IngestExchange({ table: storage.table, ...parts }),
  });
  const told: string[] = [];
  const tell = (kind: string, event: unknown) => told.push(`${kind} ${JSON.stringify(event)}`);
  const load = new TenantLoad();
  const hub: PushHub = {
    grouping: { ...DEFAULT_GROUP_COMMIT, waitMs: 0 },
    load,
    observer: {
      received: event => tell('received', event),
      refused: event => tell('refused', event),
      mutated: event => tell('mutated', event),
    },
    isWanted: () => true,
    decideRates: (tenant, asked) => rates.decide(tenant, LIMITS, asked),
    addChunks: records => catalog.addChunks(records),
    // How many bytes zstd makes of a chunk is not what this is about: a chunk's id is in it.
    onWritten: ({ records }) =>
      tell(
        'written',
        records.map(({ rows, lineBytes }) => [rows, lineBytes]),
      ),
    onStored: (tenant, push) => tell('stored', [tenant, push]),
    onFailed: () => tell('failed', ''),
    ...given,
  };
  const thread = usesThread
    ? new PushThread({
        storage: { ...options, dataDir: threadDir ?? dataDir },
        hub,
        ...(entry && { entry }),
        ...(maxPushBytes && { maxPushBytes }),
      })
    : undefined;
  const committer = new ObservedCommitter(
    { ...parts, store: storage.store, catalog: hub, options: hub.grouping, onWritten: hub.onWritten },
    hub.onStored,
    hub.onFailed,
  );
  const service = new PushService({
    committer,
    clock: systemClock,
    observer: hub.observer,
    rates,
    elsewhere: thread,
  });
  worlds.push(async () => {
    await thread?.close();
    await storage.close();
    await rm(dataDir, { recursive: true });
  });
  const engine = new QueryEngine({ catalog, source: new ChunkSource(storage.store), clock: systemClock });
  return {
    thread,
    load,
    told,
    async push({ inlet, body, contentType, contentEncoding }: Sent, tenant = 't'): Promise<string> {
      if (hub.load === load) load.noteBeside(1000, tenant);
      const request = { tenant, inlet, body, contentType, contentEncoding };
      try {
        const { stored, error, isWhole } = await service.push(request, LIMITS, BODY_LIMITS);
        return `${stored.length} stored, ${isWhole ? 'all' : 'not all'}; ${textOf(error)}`;
      } catch (error) {
        return textOf(error);
      }
    },
    async lines(tenant = 't'): Promise<string[]> {
      const query = rangeQuery('{service_name=~".+"}', { limit: 100_000 });
      const { result } = await engine.range(query, asker({ limits: LIMITS, tenants: [tenant] }));
      if (result.kind !== 'streams') throw new Error(result.kind);
      return result.streams
        .flatMap(({ labels, entries }) =>
          entries.map(entry => `${JSON.stringify(labels)} ${entry.timeNs} ${entry.line}`),
        )
        .sort();
    },
  };
}

function textOf(error: unknown): string {
  if (error === undefined) return 'no error';
  const status = error instanceof ClientError ? error.status : 0;
  return `${(error as Error).constructor.name} ${status} ${messageOf(error)}`;
}

interface Line {
  readonly app: string;
  readonly bytes: number;
}

/** Text that snappy makes little of. */
function noise(seed: number, chars: number): string {
  let text = '';
  for (let state = seed + 1; text.length < chars; ) {
    state = Math.imul(state, 48_271) % 0x7fffffff;
    text += Math.abs(state).toString(36);
  }
  return text.slice(0, chars);
}

const streamsOf = (lines: readonly Line[]) =>
  lines.map(({ app, bytes }, i) => ({
    labels: { app },
    entries: [{ ns: DAY_START_NS + BigInt(i), line: `level=info n=${i} ${noise(i, bytes)}`.slice(0, bytes) }],
  }));

const protobuf = (lines: readonly Line[]): Sent => ({
  inlet: lokiInlet('application/x-protobuf', false),
  body: snappyPush(streamsOf(lines)),
  contentType: 'application/x-protobuf',
});

function json(lines: readonly Line[], contentEncoding?: string): Sent {
  const streams = streamsOf(lines).map(({ labels, entries }) => ({
    stream: labels,
    values: entries.map(({ ns, line }) => [`${ns}`, line, { pad: 'x'.repeat(100) }]),
  }));
  const body = Buffer.from(JSON.stringify({ streams }));
  const contentType = 'application/json';
  const inlet = lokiInlet(contentType, false);
  if (contentEncoding === undefined) return { inlet, body, contentType };
  return { inlet, body: gzipSync(body, { level: 0 }), contentType, contentEncoding };
}

/** Long enough for the thread, whatever is in front. */
const many = (app: string, count = 200): Line[] => Array.from({ length: count }, () => ({ app, bytes: 150 }));

const otlp = (): Sent => {
  const logRecords = many('otlp').map(({ bytes }, i) => ({
    timeUnixNano: `${DAY_START_NS + BigInt(i)}`,
    body: { stringValue: `${i}`.padEnd(bytes, 'otlp ') },
  }));
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
  const body = Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }));
  return { inlet: otlpInlet('application/json'), body, contentType: 'application/json' };
};

/** Not compressed by anything, so that its length is that of its text. */
const garbage = (bytes: number): Sent => ({
  ...json([]),
  body: Buffer.from(`{"streams": [${'x'.repeat(bytes)}`),
});

describe('a push has the same fate there as here', () => {
  test.each<[name: string, pushes: readonly Sent[], answers: readonly RegExp[]]>([
    ['protobuf', [protobuf(many('a'))], [/^200 stored, all/]],
    ['JSON', [json(many('a'))], [/^200 stored, all/]],
    ['JSON in gzip', [json(many('a'), 'gzip')], [/^200 stored, all/]],
    ['OTLP', [otlp()], [/^200 stored, all/]],
    ['one that is repeated', [json(many('a')), json(many('a'))], [/^200 stored, all/, /^0 stored, all/]],
    ['a body that is none', [garbage(20_000)], [/^BadRequestError 400 /]],
    ['an encoding that is none', [{ ...json(many('a')), contentEncoding: 'lzma' }], [/^\w+ 4\d\d .*lzma/]],
    ['more than may be unpacked', [json(many('a', 12_000), 'gzip')], [/^TooLargeError 413 /]],
    [
      'lines that are too long',
      [protobuf([{ app: 'a', bytes: 3000 }, ...many('a')])],
      [/^200 stored, not all; BadRequestError 400 max entry size/],
    ],
    [
      'only such lines',
      [protobuf(many('a').map(({ app }, i) => ({ app, bytes: 2100 + i })))],
      [/^0 stored, not all; BadRequestError 400 /],
    ],
    [
      'too many streams',
      [protobuf([...many('a'), ...many('b'), ...many('c'), ...many('d')])],
      [/^600 stored, not all; ClientError 429 maximum active stream limit/],
    ],
    [
      'a stream over its rate',
      [protobuf([...many('b', 10), ...many('a', 7200)])],
      [/^10 stored, not all; ClientError 429 entry with/],
    ],
    [
      'a tenant over its rate',
      [protobuf([...many('a', 5000), ...many('b', 5000), ...many('c', 5000)])],
      [/^0 stored, not all; ClientError 429 ingestion rate/],
    ],
    [
      'several that meet the limits together',
      [1, 2, 3].map(i => protobuf(many('abc'[i % 3], 6000 + i))),
      [/^6001 stored, all/, /^6002 stored, all/, /^0 stored, not all; ClientError 429 ingestion rate/],
    ],
  ])('%s', async (_, pushes, answers) => {
    const [there, here] = [await world({ usesThread: true }), await world({ usesThread: false })];
    for (let i = 0; i < pushes.length; i++) {
      const answer = await there.push(pushes[i]);
      expect(answer).toMatch(answers[i]);
      expect(answer).toBe(await here.push(pushes[i]));
    }
    expect(there.told).toEqual(here.told);
    expect(await there.lines()).toEqual(await here.lines());
    // What is known as a repeat is answered before.
    expect(there.thread!.pushes).toBe(
      answers.filter(({ source }) => !source.startsWith('^0 stored, all')).length,
    );
    expect(there.thread!.starts).toBe(1);
  });

  test('whatever is in it', async () => {
    const [there, here] = [await world({ usesThread: true }), await world({ usesThread: false })];
    let tenants = 0;
    const line = fc.record({
      app: fc.constantFrom('a', 'b', 'c', 'd', ''),
      bytes: fc.oneof(fc.integer({ min: 20, max: 300 }), fc.integer({ min: 1990, max: 2010 })),
    });
    const format = fc.constantFrom(protobuf, json, (lines: readonly Line[]) => json(lines, 'gzip'));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), format, fc.nat(40_000), async (lines, of, cut) => {
        const tenant = `t${tenants++}`;
        const whole = of([...lines, ...many('a')]);
        // Half of the bodies are cut off somewhere.
        const sent =
          cut % 2 === 0 ? whole : { ...whole, body: whole.body.subarray(0, MAYBE_LONG_BYTES + cut) };
        expect(await there.push(sent, tenant)).toBe(await here.push(sent, tenant));
        expect(there.told.splice(0)).toEqual(here.told.splice(0));
        expect(await there.lines(tenant)).toEqual(await here.lines(tenant));
      }),
      { numRuns: 40 },
    );
    expect(there.thread!.pushes).toBeGreaterThan(20);
  }, 60_000);

  test('many at once, with their chunks read back', async () => {
    const { push, lines, thread } = await world({ usesThread: true });
    const pushes = Array.from({ length: 12 }, (_, i) => push(protobuf(many('abc'[i % 3], 300 + i))));
    const answers = await Promise.all(pushes);
    expect(answers.every(answer => answer.endsWith('stored, all; no error'))).toBe(true);
    // Those of a stream and time are one entry.
    expect(await lines()).toHaveLength(309 + 310 + 311);
    expect(thread!.pushes).toBe(12);
  });
});

describe('here stays', () => {
  const raw = (count: number): Sent => {
    const body = protobufPush(streamsOf(many('a', count)));
    return { ...protobuf([]), body, contentType: 'application/x-protobuf' };
  };
  test.each<[name: string, sent: Sent, options: Partial<PushHub>]>([
    ['a small one', json(many('a', 5)), {}],
    ['one of who has no others beside it', json(many('a')), { isWanted: () => false }],
    ['one of who works little', json(many('a')), { load: new TenantLoad() }],
    [
      'one whose answer tells of its documents',
      { inlet: jsonLinesInlet(DEFAULT_FIELDS), body: Buffer.from('{"message":"a"}\n'.repeat(2000)) },
      {},
    ],
    ['one without a known content type', { ...raw(500), inlet: otlpInlet('text/plain') }, {}],
  ])('%s', async (_, sent, hub) => {
    const { push, thread } = await world({ usesThread: true, hub });
    await push(sent);
    expect([thread!.pushes, thread!.starts]).toEqual([0, 0]);
  });
});

test('more than it may have at once is worked on here', async () => {
  const { push, lines, thread } = await world({ usesThread: true });
  // It takes longer to start than these take to be sent.
  const pushes = Array.from({ length: 66 }, (_, i) => push(json(many('a', 100)), `t${i}`));
  for (const answer of await Promise.all(pushes)) expect(answer).toMatch(/stored, all; no error$/);
  expect(thread!.pushes).toBe(64);
  for (const i of [0, 63, 64, 65]) expect(await lines(`t${i}`)).toHaveLength(100);
});

test('so is what finds the thread full of others', async () => {
  // One alone may take all that it needs; of two that are unpacked one has no room.
  const { push, lines, thread, told } = await world({ usesThread: true, maxPushBytes: 1 });
  const pushes = Array.from({ length: 8 }, (_, i) => push(json(many('a', 1000), 'gzip'), `t${i}`));
  for (const answer of await Promise.all(pushes)) expect(answer).toMatch(/stored, all; no error$/);
  expect(thread!.pushes).toBe(8);
  for (let i = 0; i < 8; i++) expect(await lines(`t${i}`)).toHaveLength(1000);
  expect(told.filter(one => one.startsWith('received'))).toHaveLength(8);
});

test('where the thread ends, the push is worked on here', async () => {
  const entry = new URL('./ending-push-thread.mjs', import.meta.url);
  const { push, lines, thread } = await world({ usesThread: true, entry });
  for (const round of [1, 2]) {
    expect(await push(json(many('a', 200 + round)))).toBe(`${200 + round} stored, all; no error`);
    expect(thread!.starts).toBe(round);
  }
  expect(await lines()).toHaveLength(202);
});

test('and where it has no store', async () => {
  const { push, thread } = await world({ usesThread: true, threadDir: import.meta.filename });
  expect(await push(json(many('a')))).toBe('200 stored, all; no error');
  expect([thread!.pushes, thread!.starts]).toEqual([1, 1]);
});

test.each([
  ['the table is throttled', new ThrottledError('too much'), 'ThrottledError 0 too much'],
  ['a client’s mistake', new TooLargeError('of this kind'), 'TooLargeError 413 of this kind'],
  ['another', new BadRequestError('of that kind'), 'BadRequestError 400 of that kind'],
])('what fails in the main thread keeps its kind: %s', async (_, error, want) => {
  const { push, told, thread } = await world({
    usesThread: true,
    hub: { addChunks: () => Promise.reject(error) },
  });
  expect(await push(json(many('a')))).toBe(want);
  expect(told).toEqual(['failed ""']);
  expect(thread!.pushes).toBe(1);
});

test('what it works counts for the tenant, and is not waited for here', async () => {
  const load = new TenantLoad();
  load.noteBeside(1000, 't');
  const before = load.worksMuch('t');
  const { push } = await world({ usesThread: true, hub: { load } });
  for (let i = 0; i < 3; i++) await push(json(many('a', 1000 + i)));
  load.begin('quiet');
  expect([before, load.worksMuch('t'), load.worksMuch('quiet')]).toEqual([true, true, false]);
  expect(load.waitMs('t', 8)).toBe(0);
});

test('closed, it takes nothing more, and pushes are worked on here', async () => {
  const { push, thread } = await world({ usesThread: true });
  expect(await push(json(many('a')))).toMatch(/^200 stored/);
  await thread!.close();
  expect(await push(json(many('a', 201)))).toMatch(/^201 stored/);
  expect(thread!.starts).toBe(1);
});
