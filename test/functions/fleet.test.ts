/**
 * Function instances over memory stores and one clock: what one sets another follows, what each counts all show, and what
 * they counted stays when they are gone.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  assemble,
  assembleMaintenanceFunction,
  assembleStore,
  type Stores,
} from '../../functions/assemble.ts';
import {
  type AnyFunctionName,
  componentsOfFunction,
  functionOf,
  TARGET_OF_FUNCTION,
} from '../../functions/groups.ts';
import { withinPlatform } from '../../functions/settings.ts';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { type MemoryTable, memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Item } from '../../shared/base/ports/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { foldFleet } from '../../shared/server/admin/fleet-figures.ts';
import { componentsOf } from '../../shared/server/admin/targets.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { Members } from '../../shared/storage/catalog/members.ts';
import { FUNCTION_UNHEALTHY_AFTER_MS } from '../../shared/storage/catalog/membership.ts';
import { FORGOTTEN_AFTER_MS, MetricRecords } from '../../shared/storage/catalog/metric-records.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { parseMetrics } from '../usage/support/parse-metrics.ts';
import { type GivenEvent, httpApiEvent, lambdaContext, textOf } from './events.ts';

const SETTINGS = { config: withinPlatform(DEFAULT_CONFIG), warnings: [] };
const TENANT = { 'x-scope-orgid': 'acme' };

let clock: ManualClock;
let table: MemoryTable;
let puts: Item[];
let lines: string[];
let stores: Stores;
/** Writes of instances happen and say that they failed. */
let losesAnswer = false;
/** Called once, before instances are read next. */
let beforeQuery: (() => Promise<void>) | undefined;
let started = 0;

beforeEach(() => {
  // Waits do not matter here.
  clock = { ...manualClock(), sleep: SYSTEM_CLOCK.sleep };
  const memory = memoryTable({ clock });
  puts = [];
  lines = [];
  table = {
    ...memory,
    get count() {
      return memory.count;
    },
    async put(item, condition) {
      puts.push(item);
      await memory.put(item, condition);
      if (losesAnswer && item.pk === 'm/instances') throw new Error('the connection was cut');
    },
    async query(pk, options) {
      const once = pk === 'm/instances' ? beforeQuery : undefined;
      if (once !== undefined) {
        beforeQuery = undefined;
        await once();
      }
      return memory.query(pk, options);
    },
  };
  stores = { store: memoryObjectStore(), table, clock, print: line => void lines.push(line) };
});

type Call = (
  given: GivenEvent,
) => Promise<{ status: number; text: string; headers: Readonly<Record<string, string>> }>;

/** A separate instance for each call. */
function instanceOf(
  name: 'push' | 'query' | 'status' | 'maintenance',
): Call & { job(job: string): Promise<void> } {
  const environment = {
    AWS_LAMBDA_LOG_STREAM_NAME: `stream-${++started}`,
    AWS_LAMBDA_FUNCTION_NAME: `Logboom-${name}`,
    AWS_REGION: 'eu-west-1',
  };
  const given = { ...stores, environment };
  const handler =
    name === 'maintenance' ? assembleMaintenanceFunction(SETTINGS, given) : assemble(name, SETTINGS, given);
  const call = async (event: GivenEvent) => {
    const result = (await handler(httpApiEvent(event), lambdaContext())) as Awaited<
      ReturnType<ReturnType<typeof assemble>>
    >;
    return { status: result.statusCode, text: textOf(result), headers: result.headers };
  };
  return Object.assign(call, { job: async (job: string) => void (await handler({ job }, lambdaContext())) });
}

function pushed(line: string): GivenEvent {
  const values = [[String(BigInt(clock.nowMs()) * 1_000_000n), line]];
  const body = JSON.stringify({ streams: [{ stream: { app: 'shop' }, values }] });
  const headers = { ...TENANT, 'content-type': 'application/json' };
  return { method: 'POST', path: '/loki/api/v1/push', headers, body };
}

const received = { tenant: 'acme', is_internal_stream: 'false', policy: '', format: 'loki' };

async function metricsOf(status: Call) {
  return parseMetrics((await status({ path: '/metrics' })).text);
}

async function linesReceived(status: Call): Promise<number | undefined> {
  return (await metricsOf(status)).value('loki_distributor_lines_received_total', received);
}

describe('counters', () => {
  test('are those of all instances, once a minute, and never go back', async () => {
    const [first, second, status, maintenance] = [
      instanceOf('push'),
      instanceOf('push'),
      instanceOf('status'),
      instanceOf('maintenance'),
    ];
    expect((await first(pushed('a'))).status).toBe(204);
    await second(pushed('b'));
    expect(await linesReceived(status)).toBe(2);
    // Within the minute nothing is written.
    await first(pushed('c'));
    expect(await linesReceived(status)).toBe(2);
    clock.advance(MS_PER_MINUTE);
    await first(pushed('d'));
    expect(await linesReceived(status)).toBe(4);

    // Both are silent and are folded; the first one wakes up again.
    clock.advance(FORGOTTEN_AFTER_MS + MS_PER_MINUTE);
    await maintenance.job('compaction');
    const records = new MetricRecords({ table });
    const members = async () => (await records.list()).map(({ member }) => member.id.replace(/\/.*/, ''));
    expect(await members()).toEqual(['maintenance']);
    expect(await linesReceived(status)).toBe(4);
    await first(pushed('e'));
    expect(await linesReceived(status)).toBe(5);
    expect((await members()).sort()).toEqual(['maintenance', 'push', 'status']);
    clock.advance(FORGOTTEN_AFTER_MS + MS_PER_MINUTE);
    await maintenance.job('compaction');
    expect(await linesReceived(status)).toBe(5);
    const metrics = await metricsOf(status);
    const seconds = { method: 'POST', route: 'loki_api_v1_push', status_code: '204', ws: 'false' };
    expect(metrics.value('loki_request_duration_seconds_count', seconds)).toBe(5);
    expect(metrics.value('logboom_function_starts_total', { function: 'push' })).toBe(2);
    expect(metrics.value('logboom_function_invocations_total', { function: 'push' })).toBe(5);
    // Metric of the process that answers.
    expect(metrics.value('process_start_time_seconds', {})).toBeGreaterThan(0);
  });

  test('count once if the response to a write is lost', async () => {
    const [push, status] = [instanceOf('push'), instanceOf('status')];
    await push(pushed('a'));
    losesAnswer = true;
    clock.advance(MS_PER_MINUTE);
    await push(pushed('b'));
    losesAnswer = false;
    clock.advance(MS_PER_MINUTE);
    await push(pushed('c'));
    expect(await linesReceived(status)).toBe(3);
  });

  test('count once if an instance is folded while all are read', async () => {
    const [push, status] = [instanceOf('push'), instanceOf('status')];
    await push(pushed('a'));
    clock.advance(FORGOTTEN_AFTER_MS + MS_PER_MINUTE);
    beforeQuery = async () => void (await foldFleet(new MetricRecords({ table }), clock));
    expect(await linesReceived(status)).toBe(1);
    expect(beforeQuery).toBeUndefined();
  });

  test('cost one write of a minute for each instance', async () => {
    const push = instanceOf('push');
    for (let second = 0; second < 180; second += 20) {
      await push(pushed(`line ${second}`));
      clock.advance(20_000);
    }
    const own = puts.filter(({ pk }) => pk === 'm/instances');
    expect(own).toHaveLength(3);
    expect(Math.max(...own.map(({ body }) => body.length))).toBeLessThan(8_000);
  });
});

describe('embedded metrics', () => {
  test('are lines of a bounded number of series', async () => {
    const push = instanceOf('push');
    await push(pushed('a'));
    await push(pushed('b'));
    await push({ ...pushed('c'), headers: {} });
    expect(lines.map(line => JSON.parse(line).requests)).toEqual([1]);
    clock.advance(MS_PER_MINUTE);
    await push(pushed('d'));
    const [, good, bad] = lines.map(line => JSON.parse(line));
    expect(good).toMatchObject({
      function: 'push',
      route_group: 'distributor',
      status_class: '2xx',
      requests: 2,
    });
    expect(good.duration).toHaveLength(2);
    expect(good._aws).toMatchObject({
      Timestamp: clock.nowMs(),
      CloudWatchMetrics: [
        { Namespace: 'Logboom', Dimensions: [['function', 'route_group', 'status_class']] },
      ],
    });
    expect(bad).toMatchObject({ status_class: '4xx', requests: 1 });
  });

  test('prints metrics of jobs, and none if they are disabled', async () => {
    await instanceOf('maintenance').job('compaction');
    // The backlog has a separate line.
    const jobs = lines.map(line => JSON.parse(line)).filter(line => 'route_group' in line);
    expect(jobs).toMatchObject([{ route_group: 'jobs', status_class: 'ok' }]);
    lines.length = 0;
    const environment = { LOGBOOM_EMBEDDED_METRICS: 'false' };
    await assemble('status', SETTINGS, { ...stores, environment })(
      httpApiEvent({ path: '/ready' }),
      lambdaContext(),
    );
    expect(lines).toEqual([]);
  });
});

test('a log level is followed by every instance within a minute of being called', async () => {
  const status = instanceOf('status');
  const level = async (call: Call) => (await call({ path: '/log_level' })).text;
  const push = assembleStore('push', SETTINGS, stores);
  await push.instance.settle();
  expect((await status({ method: 'POST', path: '/log_level', query: 'log_level=debug' })).status).toBe(200);
  expect(await level(instanceOf('status'))).toBe('{"message":"Current log level is debug"}');
  const late = assembleStore('query', SETTINGS, stores);
  await late.instance.settle();
  clock.advance(MS_PER_MINUTE - 1);
  await push.instance.settle();
  expect([push.log.level, late.log.level]).toEqual(['info', 'debug']);
  clock.advance(1);
  await push.instance.settle();
  expect(push.log.level).toBe('debug');
});

describe('rings', () => {
  const shown = async (maintenance: Call, path = '/ring') => {
    const { text } = await maintenance({ path, headers: { accept: 'application/json' } });
    const shards = JSON.parse(text).shards as { id: string; state: string; address: string; zone: string }[];
    return shards.map(({ id, state, address, zone }) => [id.replace(/\/.*/, ''), state, address, zone]);
  };

  test('show instances with recent calls, with their component', async () => {
    const maintenance = instanceOf('maintenance');
    await instanceOf('push')(pushed('a'));
    await instanceOf('query')({ path: '/loki/api/v1/labels', headers: TENANT });
    await maintenance({ path: '/ring' });
    expect(await shown(maintenance)).toEqual([['push', 'ACTIVE', 'Logboom-push', 'eu-west-1']]);
    expect(await shown(maintenance, '/compactor/ring')).toEqual([
      ['maintenance', 'ACTIVE', 'Logboom-maintenance', 'eu-west-1'],
    ]);
    clock.advance(FUNCTION_UNHEALTHY_AFTER_MS + 1);
    expect(await shown(maintenance)).toEqual([['push', 'UNHEALTHY', 'Logboom-push', 'eu-west-1']]);
  });

  test('a member is taken off, its counts stay, and it comes back with its next call', async () => {
    const [maintenance, push, status] = [instanceOf('maintenance'), instanceOf('push'), instanceOf('status')];
    await push(pushed('a'));
    const { instances } = new Members({ table });
    const [{ member }] = await instances.list();
    const body = `forget=${encodeURIComponent(member.id)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await maintenance({ method: 'POST', path: '/ring', headers, body })).status).toBe(302);
    expect(await shown(maintenance)).toEqual([]);
    expect(await linesReceived(status)).toBe(1);
    clock.advance(MS_PER_MINUTE);
    await push(pushed('b'));
    expect(await shown(maintenance)).toHaveLength(1);
    expect(await linesReceived(status)).toBe(2);
  });
});

describe('shutdown', () => {
  test('marks the existing instances, and merges; pushes continue', async () => {
    const [maintenance, push] = [instanceOf('maintenance'), instanceOf('push')];
    await push(pushed('a'));
    expect((await maintenance({ method: 'POST', path: '/ingester/shutdown' })).status).toBe(204);
    const again = await maintenance({ method: 'POST', path: '/ingester/shutdown' });
    expect([again.status, again.text]).toEqual([503, 'Ingester is stopping or already stopped.\n']);
    clock.advance(MS_PER_MINUTE);
    expect((await push(pushed('b'))).status).toBe(204);
    await instanceOf('push')(pushed('c'));
    const states = (await new Members({ table }).list())
      .filter(({ components }) => components.includes('ingester'))
      .map(({ state }) => state);
    expect(states.sort()).toEqual(['ACTIVE', 'LEAVING']);
    // With an unmarked process, there is something to shut down again.
    expect((await maintenance({ method: 'POST', path: '/ingester/shutdown' })).status).toBe(204);
  });

  test('is prepared for all', async () => {
    const [one, other] = [instanceOf('maintenance'), instanceOf('maintenance')];
    const path = '/ingester/prepare_shutdown';
    expect((await other({ path })).text).toBe('unset');
    expect((await one({ method: 'POST', path })).status).toBe(204);
    expect((await other({ path })).text).toBe('set');
    expect((await other({ method: 'DELETE', path })).status).toBe(204);
    expect((await one({ path })).text).toBe('unset');
  });
});

test('services of the function that answers', async () => {
  const { status, text } = await instanceOf('status')({ path: '/services' });
  expect([status, text]).toEqual([200, 'store => Running\nruntime-config => Running\nserver => Running\n']);
});

describe('roles of functions', () => {
  /** Routes of other components that are served if time or memory allows. */
  const ELSEWHERE =
    /^\/(flush|ingester\/|(svc|api)\/.*(rules|tail|\/ui\/)|compat\/api|elasticsearch|(partition-)?ring$|\w+\/ring$|[\w-]*memberlist)/;

  test('each serves the endpoints of its component', () => {
    for (const route of ROUTES) {
      if (route.component === 'all' || ELSEWHERE.test(route.path)) continue;
      const name = functionOf(route);
      expect([route.path, componentsOfFunction(name)]).toEqual([
        route.path,
        expect.arrayContaining([route.component]),
      ]);
    }
  });

  test('together they are every component', () => {
    const names = Object.keys(TARGET_OF_FUNCTION) as AnyFunctionName[];
    expect(new Set(names.flatMap(componentsOfFunction))).toEqual(new Set(componentsOf('all')));
  });
});
