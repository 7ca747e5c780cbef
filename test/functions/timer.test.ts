/** Calls of the function that a schedule invokes each minute, over a store in memory. */
import { describe, expect, test } from '@jest/globals';
import { IDLE } from '../../bench/model/figures.ts';
import { assemble } from '../../functions/assemble.ts';
import { createTimer } from '../../functions/timer-handler.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { API_GATEWAY_OWNER } from '../../shared/server/http/assemble-tail.ts';
import { maintenanceOptions } from '../../shared/server/http/maintenance-options.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { FlushRequest } from '../../shared/upkeep/maintenance/flush-request.ts';
import { schedulesOf } from '../../shared/upkeep/maintenance/maintenance.ts';
import { SyncState } from '../../shared/upkeep/maintenance/sync-state.ts';
import { drive } from '../tail/support.ts';
import { jsonPushEvent } from './tail-events.ts';

const HOUR_MINUTES = 60;
/** Jobs by the minutes of an hour in which each is called without work. */
const JOBS = ['compaction', 'collection', 'deletion', 'retention', 'index-sync', 'rules'];
/** A minute of the hour without such a call. */
const QUIET = 30;

function started({ fails = false } = {}) {
  const clock = virtualClock();
  const table = memoryTable({ clock });
  const catalog = new Catalog({ table, clock, ids: SYSTEM_IDS });
  const sent: string[] = [];
  const warned: string[] = [];
  const send = (name: string) => async (event: object) => {
    if (fails) throw new Error(`${name} is not there`);
    sent.push(`${name} ${JSON.stringify(event)}`);
  };
  const timer = createTimer({
    catalog,
    clock,
    schedules: schedulesOf(maintenanceOptions(DEFAULT_CONFIG)),
    tailOwner: API_GATEWAY_OWNER,
    calls: { maintenance: send('maintenance'), 'tail-dispatch': send('tail-dispatch') },
    log: { warn: (_, message) => void warned.push(message) },
  });
  /** @param minute of an hour */
  const at = async (minute: number) => {
    const time = new Date(Date.UTC(2026, 10, 23, 7, minute)).toISOString();
    return (await timer({ time })).called;
  };
  return { clock, table, catalog, sent, warned, timer, at };
}

/** The jobs called in each of these minutes, without those that call nothing. */
async function calledIn(at: (minute: number) => Promise<readonly string[]>, minutes: number) {
  const called: Record<number, readonly string[]> = {};
  for (let minute = 0; minute < minutes; minute++) {
    const now = await at(minute);
    if (now.length > 0) called[minute] = now;
  }
  return called;
}

describe('the timer', () => {
  test('calls each job of an idle store once an hour, and the dispatcher not at all', async () => {
    const { at } = started();
    const wanted = [0, HOUR_MINUTES].flatMap(hour => JOBS.map((job, i) => [hour + i, [job]] as const));
    expect(await calledIn(at, 2 * HOUR_MINUTES)).toEqual(Object.fromEntries(wanted));
  });

  test('calls compaction each minute and index sync every five while there is backlog', async () => {
    const { at, clock, table } = started();
    const push = assemble(
      'push',
      { config: DEFAULT_CONFIG, warnings: [] },
      { store: memoryObjectStore(), table, clock },
    );
    const context = { awsRequestId: 'test', getRemainingTimeInMillis: () => 25_000 };
    const event = jsonPushEvent('acme', ['a line'], clock.nowMs());
    expect((await drive(clock, push(event, context))).statusCode).toBe(204);
    const called = await Promise.all([0, 1, 2, 3, 4, 5, 6].map(minute => at(QUIET + minute)));
    const both = ['compaction', 'index-sync'];
    expect(called).toEqual([both, ...Array(4).fill(['compaction']), both, ['compaction']]);
  });

  test('calls for requested work: a flush, and a sync of indexes in the next minute', async () => {
    const { at, catalog, clock } = started();
    await new FlushRequest({ catalog, clock }).make();
    expect(await at(QUIET + 1)).toEqual(['compaction']);
    await new SyncState({ catalog, clock }).request('manual');
    expect(await at(QUIET + 2)).toEqual(['compaction', 'index-sync']);
  });

  test('calls the dispatcher while a client tails, and no longer', async () => {
    const { at, catalog, clock, sent } = started();
    const subscription = {
      tenant: 'acme',
      owner: API_GATEWAY_OWNER,
      connectionId: 'c1',
      query: '{app="a"}',
      form: 'current',
      flags: [],
      limit: 10,
      startNs: '0',
      delayMs: 0,
      createdMs: clock.nowMs(),
    } as const;
    await catalog.subscriptions.add(subscription);
    expect(await at(QUIET + 1)).toEqual(['tail-dispatch']);
    expect(sent).toEqual(['tail-dispatch {}']);
    await drive(clock, clock.sleep(600_000));
    expect(await at(QUIET + 11)).toEqual([]);
  });

  test('calls rules, deletion and collection if there is work for them', async () => {
    const { at, catalog, table } = started();
    const group = { name: 'g', rules: [{ alert: 'A', expr: 'vector(1) > 0' }] };
    await catalog.ruleGroups.set('acme', 'ns', group as never, 0);
    expect(await at(QUIET + 1)).toEqual(['rules']);
    await table.put({ pk: 'p/0', sk: 'acme', version: 0, body: new Uint8Array(0) });
    expect(await at(QUIET + 2)).toEqual(['deletion', 'rules']);
    await table.put({ pk: 'g/0', sk: '000000000000/x', version: 0, body: Buffer.from('["a/chunks/b"]') });
    expect(await at(QUIET + 5)).toEqual(['collection', 'deletion', 'rules']);
    expect(await at(QUIET + 6)).toEqual(['deletion', 'rules']);
  });

  test('calls the job if a check fails, and logs it', async () => {
    const { at, catalog, warned } = started();
    catalog.ruleGroups.tenants = () => Promise.reject(new Error('the table is away'));
    expect(await at(QUIET + 1)).toEqual(['rules']);
    expect(warned).toHaveLength(1);
  });

  test('fails if calls fail, so that an alarm rings', async () => {
    const { at } = started({ fails: true });
    await expect(at(0)).rejects.toThrow('invoking functions failed');
    await expect(at(QUIET + 1)).resolves.toEqual([]);
  });

  test('reads as little in a month as the cost model assumes', async () => {
    const { at, table } = started();
    let reads = 0;
    for (const name of ['get', 'query'] as const) {
      const read = table[name].bind(table) as (...given: unknown[]) => Promise<never>;
      table[name] = ((...given: unknown[]) => {
        reads++;
        return read(...given);
      }) as never;
    }
    for (let minute = 0; minute < HOUR_MINUTES; minute++) await at(minute);
    expect(reads / HOUR_MINUTES).toBeLessThanOrEqual(IDLE.timerReads);
    expect(reads / HOUR_MINUTES).toBeGreaterThan(IDLE.timerReads - 1);
  });

  test.each([undefined, {}, { time: '<aws.scheduler.scheduled-time>' }])(
    'uses the current time for %j',
    async event => {
      const { timer } = started();
      expect(await timer(event)).toHaveProperty('called');
    },
  );
});
