/** The maintenance function: its routes, and the events of its schedules. */
import { describe, expect, test } from '@jest/globals';
import { assembleMaintenanceFunction } from '../../functions/assemble.ts';
import type { HttpApiResult } from '../../functions/lambda-event.ts';
import { createScheduledHandler } from '../../functions/scheduled-event.ts';
import { withinPlatform } from '../../functions/settings.ts';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { compareChunks } from '../../shared/storage/catalog/chunk-order.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { helpersOf } from '../../shared/upkeep/compaction/merge-task.ts';
import { type Job, type JobOutcome, Jobs, type RunBounds } from '../../shared/upkeep/maintenance/jobs.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { START_MS, testStores } from '../maintenance/store.ts';
import { pushOf } from '../support/pushes.ts';
import { httpApiEvent, lambdaContext, textOf } from './events.ts';

const OUTCOME: JobOutcome = { done: true, succeeded: 1, figures: { days: 1 }, failures: [] };

describe('a scheduled event', () => {
  function handlerOf(run: Job['run'], isRequested?: Job['isRequested']) {
    const { clock, process } = testStores();
    const lines: string[] = [];
    const jobs = [
      { name: 'named', everyMs: MS_PER_MINUTE, run },
      {
        name: 'asked',
        everyMs: MS_PER_MINUTE,
        run: async () => OUTCOME,
        isRequested: isRequested ?? (async () => false),
      },
    ];
    const log = createLog('debug', { write: line => void lines.push(line) });
    const handler = createScheduledHandler({
      jobs: new Jobs({ jobs, catalog: process(1).catalog, clock }),
      clock,
      log,
    });
    return { handler, logged: () => lines.map(line => JSON.parse(line)) };
  }

  test('runs the job, until a minute before the function ends', async () => {
    let given: RunBounds | undefined;
    const { handler } = handlerOf(async bounds => {
      given = bounds;
      return OUTCOME;
    });
    const result = await handler({ job: 'named' }, lambdaContext(15 * MS_PER_MINUTE));
    expect(result).toEqual({ job: 'named', done: true, figures: { days: 1 }, failures: [] });
    expect(given?.untilMs).toBe(START_MS + 14 * MS_PER_MINUTE);
    expect(given?.signal.aborted).toBe(false);
  });

  test('cuts a run before the function ends', async () => {
    const { handler } = handlerOf(async ({ signal }) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      return { ...OUTCOME, done: false };
    });
    // Ten seconds are kept back: nothing is left of them here.
    expect(await handler({ job: 'named' }, lambdaContext(10_000))).toMatchObject({ done: false });
  });

  test('also runs requested jobs', async () => {
    const { handler, logged } = handlerOf(
      async () => OUTCOME,
      async () => true,
    );
    await handler({ job: 'named' }, lambdaContext());
    expect(logged().map(({ job }) => job)).toEqual(['asked', 'named']);
  });

  test('a partial failure is logged, without an error', async () => {
    const { handler, logged } = handlerOf(async () => ({ ...OUTCOME, failures: ['acme day 1: broken'] }));
    expect(await handler({ job: 'named' }, lambdaContext())).toMatchObject({
      failures: ['acme day 1: broken'],
    });
    expect(logged()[0]).toMatchObject({ level: 'warn', job: 'named', failure: 'acme day 1: broken' });
  });

  test.each<[string, Job['run']]>([
    ['broken', async () => ({ ...OUTCOME, succeeded: 0, failures: ['broken'] })],
    ['no table', async () => Promise.reject(new Error('no table'))],
  ])('the invocation fails if every job failed: %s', async (message, run) => {
    const { handler, logged } = handlerOf(run);
    await expect(handler({ job: 'named' }, lambdaContext())).rejects.toThrow(`job named failed: ${message}`);
    expect(logged()[0]).toMatchObject({ level: 'warn', failure: message });
  });

  test.each([[null], [undefined], [{}], [{ job: 7 }], [{ Records: [] }], ['named']])(
    '%j is not accepted',
    async event => {
      const { handler } = handlerOf(async () => OUTCOME);
      await expect(handler(event, lambdaContext())).rejects.toThrow('this function accepts {"job": NAME}');
    },
  );

  test('an unknown job is an error', async () => {
    const { handler } = handlerOf(async () => OUTCOME);
    await expect(handler({ job: 'nosuch' }, lambdaContext())).rejects.toThrow('job nosuch does not exist');
  });
});

describe('the function', () => {
  const config = withinPlatform({
    ...DEFAULT_CONFIG,
    server: { ...DEFAULT_CONFIG.server, logLevel: 'error' },
  });
  const stores = { store: memoryObjectStore(), table: memoryTable({ clock: SYSTEM_CLOCK }) };
  const handler = assembleMaintenanceFunction({ config, warnings: [] }, stores);
  const call = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const event = httpApiEvent({ method, path, headers, timeEpoch: Date.now() });
    const result = (await handler(event, lambdaContext())) as HttpApiResult;
    return [result.statusCode, textOf(result)];
  };

  test('serves its routes, and a request for a sync is done by the schedule of another job', async () => {
    expect((await call('PUT', '/sync-indexes'))[0]).toBe(202);
    expect(JSON.parse(String((await call('GET', '/sync-indexes'))[1]))).toMatchObject([
      { in_progress: true },
    ]);
    expect(await handler({ job: 'compaction' }, lambdaContext(15 * MS_PER_MINUTE))).toMatchObject({
      job: 'compaction',
      done: true,
    });
    expect(JSON.parse(String((await call('GET', '/sync-indexes'))[1]))).toMatchObject([
      { in_progress: false, last_trigger: 'manual' },
    ]);
  });

  test('serves every route of its class', async () => {
    const acme = { 'x-scope-orgid': 'acme' };
    expect(await call('POST', '/flush')).toEqual([204, '']);
    expect(await call('POST', '/flush/tenant', acme)).toEqual([204, '']);
    expect(await call('GET', '/loki/api/v1/cache/generation_numbers', acme)).toEqual([200, '""']);
    expect((await call('GET', '/loki/api/v1/status/maintenance'))[0]).toBe(200);
    expect((await call('GET', '/ready'))[0]).toBe(404);
  });

  test('an unknown event fails, so that the scheduler sees it', async () => {
    await expect(handler({ Records: [] }, lambdaContext())).rejects.toThrow('this function accepts');
  });
});

describe('a merge for another function', () => {
  const DAY = 20_000;
  const stores = async () => {
    const [clock, ids] = [SYSTEM_CLOCK, SYSTEM_IDS];
    const [store, table] = [memoryObjectStore(), memoryTable({ clock })];
    const catalog = new Catalog({ table, clock, ids });
    const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
    const committer = new GroupCommitter({ catalog, store, clock, ids, options });
    for (let i = 0; i < 3; i++) {
      const entry = { stream: { app: 'a' }, day: DAY, time: i, line: `line ${i}`, metadata: {} };
      await committer.commit('t', pushOf([entry, { ...entry, time: 9, line: 'again' }]));
    }
    const settings = { config: withinPlatform(DEFAULT_CONFIG), warnings: [] };
    const handler = assembleMaintenanceFunction(settings, { store, table, clock });
    return { store, catalog, handler };
  };

  test('stores its output and leaves the catalog as it is', async () => {
    const { store, catalog, handler } = await stores();
    const before = (await catalog.day('t', DAY))!;
    const invoke = async (bytes: Uint8Array) => {
      const event = { task: Buffer.from(bytes).toString('base64') };
      const { answer } = (await handler(event, lambdaContext(MS_PER_MINUTE))) as { answer: string };
      return Buffer.from(answer, 'base64');
    };
    const helpers = helpersOf({ invoke }, { most: 2 });
    const inputs = before.records.toSorted(compareChunks);
    const task = { tenant: 't', day: DAY, level: 2, quality: 'final', inputs } as const;
    const answer = await helpers.merge(task, new AbortController().signal);
    expect(answer).toMatchObject({ duplicates: 2, dropped: 0, mayDrop: false, applied: [], inputs });
    const [{ rows, level, origin }] = answer.added;
    expect({ rows, level, origin }).toEqual({ rows: 4, level: 2, origin: inputs[0].id });
    expect(answer.added[0].inline ?? (await store.head(keyOfChunk(answer.added[0])))).toBeDefined();
    expect(await catalog.day('t', DAY)).toEqual(before);
  });

  test('a merge that cannot be done ends the call with its error', async () => {
    const { handler } = await stores();
    const task = Buffer.from('{"tenant":"t","day":1,"inputs":["AAAA"]}').toString('base64');
    await expect(handler({ task }, lambdaContext(MS_PER_MINUTE))).rejects.toThrow('chunk record of t, day 1');
  });
});
