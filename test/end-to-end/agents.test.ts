/** Agents as published on npm, and the entries of theirs that a query returns. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pino from 'pino';
import { pinoLoki } from 'pino-loki';
import winston from 'winston';
import LokiTransport from 'winston-loki';
import { until } from '../support/until.ts';
import { findEntries } from './support/ask.ts';
import { startStore, type TestStore } from './support/store.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startStore('auth_enabled: true\nlimits_config: { reject_old_samples: false }');
});
afterAll(() => store.stop());

/** Lines of the last hour. */
async function linesOf(tenant: string, query: string): Promise<{ labels: object; line: string }[]> {
  const found = await findEntries(store.client, { query, limit: '5000', direction: 'forward' }, { tenant });
  return found.map(({ labels, line }) => ({ labels, line })).sort((a, b) => (a.line < b.line ? -1 : 1));
}

const COUNT = 200;
const numbered = Array.from({ length: COUNT }, (_, i) => `line ${String(i).padStart(3, '0')}`);

describe('winston-loki', () => {
  const FORMATS: readonly (readonly [name: string, json: boolean])[] = [
    ['JSON', true],
    ['protobuf', false],
  ];
  test.each(FORMATS)('%s', async (name, json) => {
    const tenant = `winston-${name}`;
    const errors: unknown[] = [];
    const transport = new LokiTransport({
      host: store.url,
      json,
      labels: { job: 'shipper', host: 'café' },
      headers: { 'X-Scope-OrgID': tenant },
      format: winston.format.printf(({ message }) => String(message)),
      gracefulShutdown: false,
      onConnectionError: error => errors.push(error),
    });
    const logger = winston.createLogger({ level: 'debug', transports: [transport] });
    for (const line of numbered) logger.info(line);
    logger.error('it "failed"\nat once', { code: 7, nested: { a: [1] } });
    await (transport as unknown as { flush(): Promise<void> }).flush();
    await (transport.close as () => Promise<void>)();
    expect(errors).toEqual([]);

    const stored = await linesOf(tenant, '{job="shipper", level="info"}');
    expect(stored.map(({ line }) => line)).toEqual(numbered);
    const labels = {
      detected_level: 'info',
      host: 'café',
      job: 'shipper',
      level: 'info',
      service_name: 'shipper',
    };
    // Only its JSON form sends structured metadata: all fields of the entry, including the level.
    expect(stored[0].labels).toEqual({ ...labels, ...(json ? { level_extracted: 'info' } : {}) });
    const [failed] = await linesOf(tenant, '{level="error"}');
    expect(failed.line).toBe('it "failed"\nat once');
    const metadata = json ? { code: '7', level_extracted: 'error', nested: '{"a":[1]}' } : {};
    expect(failed.labels).toEqual({ ...labels, detected_level: 'error', level: 'error', ...metadata });
  });

  test('gets a report of invalid entries', async () => {
    const errors: unknown[] = [];
    const transport = new LokiTransport({
      host: store.url,
      json: true,
      labels: { 'not-a-name': 'x' },
      headers: { 'X-Scope-OrgID': 'winston-wrong' },
      gracefulShutdown: false,
      clearOnError: true,
      onConnectionError: error => errors.push(error),
    });
    winston.createLogger({ transports: [transport] }).info('x');
    await (transport.close as () => Promise<void>)();
    expect(errors.map(String)).toEqual([expect.stringContaining("HTTP 400: couldn't parse labels: 1:")]);
  });
});

describe('pino-loki', () => {
  test.each([
    ['batched', {}],
    ['one by one', false as const],
  ])('%s', async (name, batching) => {
    const tenant = `pino-${name.replaceAll(' ', '-')}`;
    const transport = pinoLoki({
      host: store.url,
      batching,
      labels: { app: 'shipper' },
      propsToLabels: ['shard'],
      headers: { 'X-Scope-OrgID': tenant },
    });
    const logger = pino({ base: { hostname: 'h1' } }, transport);
    for (const line of numbered) logger.info({ shard: 3 }, line);
    logger.error({ shard: 4, meta: { trace: 'abc', tries: 2 } }, 'failed');
    const closed = new Promise(resolve => transport.once('close', resolve));
    transport.end();
    await closed;
    // One by one it does not wait for its answers.
    await expectCount(tenant, '{app="shipper"}', COUNT + 1);

    const stored = await linesOf(tenant, '{app="shipper", shard="3"}');
    expect(stored.map(({ line }) => JSON.parse(line).msg).sort()).toEqual(numbered);
    const labels = {
      app: 'shipper',
      detected_level: 'info',
      hostname: 'h1',
      level: 'info',
      service_name: 'shipper',
    };
    expect(stored[0].labels).toEqual({ ...labels, shard: '3' });
    const [failed] = await linesOf(tenant, '{level="error"}');
    expect(failed.labels).toEqual({
      ...labels,
      detected_level: 'error',
      level: 'error',
      shard: '4',
      trace: 'abc',
      tries: '2',
    });
  });

  async function expectCount(tenant: string, query: string, count: number): Promise<void> {
    await until(async () => (await linesOf(tenant, query)).length >= count);
    expect(await linesOf(tenant, query)).toHaveLength(count);
  }
});
