import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { createCloudWatchHandler } from '../../functions/cloudwatch-logs-handler.ts';
import { labelsOfEnvironment } from '../../functions/event-labels.ts';
import { assembleEventStore } from '../../functions/event-store.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';

const SETTINGS = {
  config: {
    ...DEFAULT_CONFIG,
    server: { ...DEFAULT_CONFIG.server, logLevel: 'error' as const },
    logboom: { ...DEFAULT_CONFIG.logboom, inlineMaxBytes: 0 },
  },
  warnings: [],
  bucket: 'chunks',
};

function assembled(environment: Record<string, string> = { LOGBOOM_TENANT: 'acme' }) {
  const store = memoryObjectStore();
  const stores = { store, table: memoryTable({ clock: SYSTEM_CLOCK }) };
  const handler = createCloudWatchHandler(
    assembleEventStore('cloudwatch-logs', SETTINGS, stores, environment),
  );
  return { handler, chunks: async () => (await store.list('')).objects.length };
}

/** The event of a subscription filter, as Lambda gets it. */
function event(messageType: string, timestamp: number) {
  const envelope = {
    messageType,
    owner: '111122223333',
    logGroup: 'g',
    logStream: 's',
    subscriptionFilters: ['f'],
    logEvents: [{ id: '1', timestamp, message: 'm' }],
  };
  return { awslogs: { data: gzipSync(JSON.stringify(envelope)).toString('base64') } };
}

test('stores the events of a subscription, a repeat once', async () => {
  const { handler, chunks } = assembled();
  const sent = event('DATA_MESSAGE', Date.now());
  await handler(sent);
  await handler(sent);
  expect(await chunks()).toBe(1);
});

test('control messages and refused entries are not errors', async () => {
  const { handler, chunks } = assembled();
  await handler(event('CONTROL_MESSAGE', Date.now()));
  await handler(event('DATA_MESSAGE', 1));
  expect(await chunks()).toBe(0);
});

test.each([[{}], [null], [{ awslogs: {} }]])('%j is not an event', async wrong => {
  await expect(assembled().handler(wrong)).rejects.toThrow('events of a subscription of CloudWatch Logs');
});

test('invalid data throws, so that it is repeated', async () => {
  await expect(assembled().handler({ awslogs: { data: 'eA==' } })).rejects.toThrow('gzip: invalid header');
});

describe('the environment', () => {
  test('names the tenant', () => {
    expect(() => assembled({})).toThrow('LOGBOOM_TENANT is not set');
    expect(() => assembled({ LOGBOOM_TENANT: 'a b' })).toThrow('unsupported character');
  });

  test('names labels', () => {
    expect(labelsOfEnvironment({ LOGBOOM_LABELS: 'env=prod, team=a=b,' })).toEqual([
      { name: 'env', value: 'prod' },
      { name: 'team', value: 'a=b' },
    ]);
    expect(labelsOfEnvironment({})).toEqual([]);
    for (const wrong of ['env', 'a-b=c', 'a=', '=c']) {
      expect(() => labelsOfEnvironment({ LOGBOOM_LABELS: wrong })).toThrow('LOGBOOM_LABELS needs name=value');
    }
  });
});
