/**
 * Rules from their YAML to their notification targets, over real sockets: alerts, written series, and the
 * API.
 */

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { uncompress } from 'snappyjs';
import { until } from '../support/until.ts';
import { startStore, type TestStore } from './support/store.ts';

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Receiver {
  readonly url: string;
  readonly asked: Asked[];
  readonly server: Server;
}

const GROUP = `name: shop
interval: 1s
rules:
  - record: shop:lines
    expr: sum by (app) (count_over_time({app="shop"}[1h]))
  - alert: Errors
    expr: sum by (app) (count_over_time({app="shop"} |= "error" [1h])) > 0
    annotations: {summary: '{{ $labels.app }} has {{ $value }} errors'}
  - alert: Logs
    expr: '{app="shop"}'
`;

/** Answers 200, and `/moved` with a redirect to itself. */
async function startReceiver(): Promise<Receiver> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const path = request.url ?? '';
    asked.push({ path, headers: request.headers, body: Buffer.concat(parts) });
    if (path.startsWith('/moved')) response.writeHead(302, { location: '/elsewhere' });
    response.end('x'.repeat(100_000));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

let alerts: Receiver;
let metrics: Receiver;
let store: TestStore;
const headers = { 'x-scope-orgid': 'acme', 'content-type': 'application/json' };

beforeAll(async () => {
  [alerts, metrics] = await Promise.all([startReceiver(), startReceiver()]);
  store = await startStore(`auth_enabled: true
ruler:
  poll_interval: 100ms
  alertmanager_url: ${alerts.url.replace('://', '://me:secret@')},${alerts.url}/moved
  external_labels: {cluster: c1}
  remote_write:
    enabled: true
    clients:
      one: {url: '${metrics.url}/write', authorization: {credentials: abc}}
`);
});
afterAll(async () => {
  await store.stop();
  for (const { server } of [alerts, metrics]) {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  }
});

async function send(method: string, path: string, body = ''): Promise<string> {
  const { status, text } = await store.client.send({ method, path, headers, body });
  expect(status).toBeLessThan(300);
  return text;
}

test('an alert and a series reach their receivers', async () => {
  const values = [[`${BigInt(Date.now()) * 1_000_000n}`, 'an error']];
  await send('POST', '/loki/api/v1/push', JSON.stringify({ streams: [{ stream: { app: 'shop' }, values }] }));
  await send('POST', '/svc/api/v1/rules/space', GROUP);

  const told = await until(() => alerts.asked.find(({ path }) => path === '/api/v2/alerts'));
  expect(told.headers).toMatchObject({
    'content-type': 'application/json',
    authorization: `Basic ${Buffer.from('me:secret').toString('base64')}`,
  });
  expect(JSON.parse(told.body.toString())).toMatchObject([
    {
      labels: { alertname: 'Errors', app: 'shop', cluster: 'c1' },
      annotations: { summary: 'shop has 1 errors' },
    },
  ]);
  const written = await until(() => metrics.asked[0]);
  expect(written.path).toBe('/write');
  expect(written.headers).toMatchObject({
    authorization: 'Bearer abc',
    'content-encoding': 'snappy',
    'x-scope-orgid': 'acme',
  });
  expect(Buffer.from(uncompress(written.body)).toString('latin1')).toContain('shop:lines');
});

test('the API shows the state of the rules', async () => {
  const group = await until(async () => {
    const { data } = JSON.parse(await send('GET', '/compat/api/v1/rules'));
    return data.groups[0]?.rules[1].state === 'firing' ? data.groups[0] : undefined;
  });
  const [recording, errors, logs] = group.rules;
  expect(recording).toMatchObject({ health: 'ok', lastError: '', type: 'recording' });
  expect(errors).toMatchObject({ health: 'ok', alerts: [{ state: 'firing', value: '1e+00' }] });
  expect(logs).toMatchObject({
    health: 'err',
    lastError: 'rule result is not a vector or scalar',
    alerts: [],
  });
  const { data } = JSON.parse(await send('GET', '/compat/api/v1/alerts'));
  expect(data.alerts).toMatchObject([{ labels: { alertname: 'Errors', app: 'shop' }, state: 'firing' }]);
});

test('a redirect is reported and not followed', async () => {
  await until(() => alerts.asked.find(({ path }) => path.startsWith('/moved')));
  expect(alerts.asked.map(({ path }) => path)).not.toContain('/elsewhere');
  const text = await until(async () => {
    const page = await send('GET', '/metrics');
    return /logboom_rule_notification_failures_total [1-9]/.test(page) ? page : undefined;
  });
  expect(text).toMatch(/logboom_rule_alerts_sent_total [1-9]/);
  expect(text).toMatch(/logboom_rule_samples_written_total [1-9]/);
});
