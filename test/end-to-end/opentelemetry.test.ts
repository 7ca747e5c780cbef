/** The OpenTelemetry SDK as it comes from npm, with both of its HTTP exporters, against the whole store. */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { findEntries } from './support/ask.ts';
import { startStore, type TestStore } from './support/store.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startStore('auth_enabled: true');
});
afterAll(() => store.stop());

type Exporter = typeof JsonExporter | typeof ProtobufExporter;
const EXPORTERS: [string, Exporter][] = [
  ['http/json', JsonExporter],
  ['http/protobuf', ProtobufExporter],
];

function providerOf(Exporter: Exporter, tenant: string, base = store.url): LoggerProvider {
  const exporter = new Exporter({ url: `${base}/otlp/v1/logs`, headers: { 'X-Scope-OrgID': tenant } });
  return new LoggerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', 'k8s.pod.name': 'shop-1', 'host.name': 'h1' }),
    processors: [new BatchLogRecordProcessor({ exporter, maxExportBatchSize: 64, scheduledDelayMillis: 10 })],
  });
}

async function found(tenant: string) {
  const entries = await findEntries(
    store.client,
    { query: '{service_name="shop"}', limit: '5000', direction: 'forward' },
    { tenant },
  );
  return entries.sort((a, b) => (a.line < b.line ? -1 : 1));
}

describe.each(EXPORTERS)('%s', (name, Exporter) => {
  const tenantFor = (what: string) => `${name.replace('/', '-')}-${what}`;

  test('batches arrive whole', async () => {
    const tenant = tenantFor('batches');
    const provider = providerOf(Exporter, tenant);
    const lines = Array.from({ length: 500 }, (_, i) => `line ${String(i).padStart(3, '0')}`);
    const logger = provider.getLogger('lib', '1.2');
    for (const body of lines)
      logger.emit({ body, severityNumber: SeverityNumber.WARN, severityText: 'WARN' });
    await provider.forceFlush();
    await provider.shutdown();
    const entries = await found(tenant);
    expect(entries.map(({ line }) => line)).toEqual(lines);
    const { observed_timestamp: observed, ...labels } = entries[0].labels;
    expect(observed).toMatch(/^\d{19}$/);
    expect(labels).toEqual({
      service_name: 'shop',
      k8s_pod_name: 'shop-1',
      host_name: 'h1',
      scope_name: 'lib',
      scope_version: '1.2',
      severity_number: '13',
      severity_text: 'WARN',
      detected_level: 'warn',
    });
  });

  test('stores bodies and attributes of all kinds', async () => {
    const tenant = tenantFor('kinds');
    const provider = providerOf(Exporter, tenant);
    const logger = provider.getLogger('lib');
    const bodies = [
      'text',
      7,
      1.5,
      true,
      ['a', 1, { b: null }],
      { z: 1, a: { k: [true] } },
      new Uint8Array([0, 255, 254]),
    ];
    for (const body of bodies) logger.emit({ body });
    logger.emit({
      body: 'with attributes',
      attributes: {
        'http.method': 'GET',
        code: 200,
        ratio: 0.25,
        ok: false,
        tags: ['a', 'b'],
        ctx: { user: { id: 7 } },
      },
      eventName: 'clicked',
    });
    await provider.forceFlush();
    await provider.shutdown();
    const entries = await found(tenant);
    expect(entries.map(({ line }) => line)).toEqual(
      [
        'text',
        '7',
        '1.5',
        'true',
        '["a",1,{"b":null}]',
        '{"a":{"k":[true]},"z":1}',
        'AP/+',
        'with attributes',
      ].sort(),
    );
    expect(entries.find(({ line }) => line === 'with attributes')!.labels).toMatchObject({
      http_method: 'GET',
      code: '200',
      ratio: '0.25',
      ok: 'false',
      tags: '["a","b"]',
      ctx_user_id: '7',
      event_name: 'clicked',
    });
  });

  test.each([429, 503])('an export answered with %i is repeated', async status => {
    const tenant = tenantFor(`again-${status}`);
    const gate = await startGate(status);
    const provider = providerOf(Exporter, tenant, gate.url);
    provider.getLogger('lib').emit({ body: 'once' });
    await provider.forceFlush();
    await provider.shutdown();
    await gate.stop();
    expect(gate.requests()).toBe(2);
    expect((await found(tenant)).map(({ line }) => line)).toEqual(['once']);
  });

  test('entries stored despite a lost response are there once', async () => {
    const tenant = tenantFor('lost');
    const gate = await startGate(503, { storesFirst: true });
    const provider = providerOf(Exporter, tenant, gate.url);
    provider.getLogger('lib').emit({ body: 'once' });
    await provider.forceFlush();
    await provider.shutdown();
    await gate.stop();
    expect(gate.requests()).toBe(2);
    expect((await found(tenant)).map(({ line }) => line)).toEqual(['once']);
  });
});

interface Gate {
  readonly url: string;
  requests(): number;
  stop(): Promise<void>;
}

/** A proxy for the store that answers the first request itself, with or without forwarding it. */
async function startGate(status: number, { storesFirst = false } = {}): Promise<Gate> {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    const isFirst = ++count === 1;
    const refuse = () => outgoing.writeHead(status, { 'retry-after': '0' }).end();
    if (!isFirst) passOn(incoming, answer => outgoing.writeHead(answer.statusCode!).end());
    else if (storesFirst) passOn(incoming, refuse);
    else incoming.resume().on('end', refuse);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => count,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function passOn(incoming: IncomingMessage, answered: (answer: IncomingMessage) => unknown): void {
  const outgoing = httpRequest(
    `${store.url}${incoming.url}`,
    { method: 'POST', headers: incoming.headers },
    answer => {
      answer.resume().on('end', () => answered(answer));
    },
  );
  incoming.pipe(outgoing);
}
