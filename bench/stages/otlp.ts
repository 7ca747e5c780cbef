/**
 * Bytes per second of the steps of an OTLP push. Bytes are those that limits count: lines, and names and
 * values of each entry's metadata, including those of its resource.
 *
 * The records are typical of service SDKs: a line of about 150 bytes, ten attributes, severity, trace and
 * span IDs, both times; resources of a Kubernetes service, two scopes each.
 */
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import protobuf from 'protobufjs';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import { decodeJsonLogs } from '../../shared/write/ingest/otlp/json-logs.ts';
import { decodeProtobufLogs } from '../../shared/write/ingest/otlp/protobuf-logs.ts';
import { unpackLogs } from '../../shared/write/ingest/otlp/unpack.ts';
import { segmentsOf } from '../../shared/write/ingest/segment.ts';
import type { StageCase } from './index.ts';

const NOW = 1_704_164_645_000_000_000n;
const PUSHES = 8;
const RESOURCES = 4;
const RECORDS = 500;
const context = { limits: DEFAULT_LIMITS, nowNs: NOW };
const limits = { maxBodyBytes: 2 ** 30, maxDecompressedBytes: 2 ** 30 };
const held = { take: () => undefined, release: () => {} };

const { root } = protobuf.parse(
  `syntax = "proto3";
  message Any { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; } }
  message Pair { string key = 1; Any value = 2; }
  message Resource { repeated Pair attributes = 1; }
  message Scope { string name = 1; string version = 2; }
  message Record {
    fixed64 timeUnixNano = 1; int32 severityNumber = 2; string severityText = 3; Any body = 5;
    repeated Pair attributes = 6; fixed32 flags = 8; bytes traceId = 9; bytes spanId = 10;
    fixed64 observedTimeUnixNano = 11;
  }
  message ScopeLogs { Scope scope = 1; repeated Record logRecords = 2; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scopeLogs = 2; }
  message Request { repeated ResourceLogs resourceLogs = 1; }`,
);
const Request = root.lookupType('Request');

let state = 11;
function next(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state;
}
const hex = (bytes: number) =>
  Array.from({ length: bytes / 4 }, () => next().toString(16).padStart(8, '0')).join('');
const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
const int = (key: string, value: number) => ({ key, value: { intValue: value } });

function record(i: number): object {
  const path = `/api/v1/orders/${next() % 1e6}`;
  const line = `request completed: GET ${path} from 10.1.${next() % 256}.${next() % 256} took ${next() % 1000} ms, ${next() % 1e5} bytes sent, cache miss, upstream backend-${next() % 16}`;
  return {
    timeUnixNano: String(NOW + BigInt(i) * 1000n),
    observedTimeUnixNano: String(NOW + BigInt(i) * 1000n + 500n),
    severityNumber: 9,
    severityText: 'INFO',
    body: { stringValue: line },
    attributes: [
      text('http.request.method', 'GET'),
      text('url.path', path),
      int('http.response.status_code', 200),
      text('server.address', 'orders.prod.svc.cluster.local'),
      int('server.port', 8080),
      text('user.id', `u-${next() % 20_000}`),
      { key: 'duration_ms', value: { doubleValue: (next() % 1e5) / 100 } },
      { key: 'cache.hit', value: { boolValue: false } },
      text('code.function.name', 'com.example.orders.OrderController.show'),
      text('thread.name', `http-nio-8080-exec-${next() % 32}`),
    ],
    flags: 1,
    traceId: hex(16),
    spanId: hex(8),
  };
}

function request(push: number): {
  resourceLogs: { scopeLogs: { logRecords: { traceId: string; spanId: string }[] }[] }[];
} {
  return {
    resourceLogs: Array.from({ length: RESOURCES }, (_, r) => ({
      resource: {
        attributes: [
          text('service.name', `orders-${r}`),
          text('service.namespace', 'shop'),
          text('k8s.namespace.name', 'prod'),
          text('k8s.pod.name', `orders-${r}-${push}`),
          text('k8s.node.name', 'ip-10-1-2-3.eu-west-1.compute.internal'),
          text('telemetry.sdk.language', 'java'),
          text('telemetry.sdk.version', '1.44.1'),
          text('host.arch', 'amd64'),
          int('process.pid', 4242),
        ],
      },
      scopeLogs: ['com.example.orders', 'org.apache.tomcat'].map(name => ({
        scope: { name, version: '1.0.0' },
        logRecords: Array.from({ length: RECORDS / 2 }, (_, i) => record(push * 1e6 + i) as never),
      })),
    })),
  } as never;
}

const requests = Array.from({ length: PUSHES }, (_, push) => request(push));
const json = requests.map(one => Buffer.from(JSON.stringify(one)));
// Protobuf has the IDs as bytes.
for (const { resourceLogs } of requests) {
  for (const record of resourceLogs
    .flatMap(({ scopeLogs }) => scopeLogs)
    .flatMap(scope => scope.logRecords)) {
    Object.assign(record, {
      traceId: Buffer.from(record.traceId, 'hex'),
      spanId: Buffer.from(record.spanId, 'hex'),
    });
  }
}
const bodies = requests.map(one => Buffer.from(Request.encode(Request.fromObject(one)).finish()));
const gzip = bodies.map(body => gzipSync(body));
const zstd = bodies.map(body =>
  zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
);
const LINES = PUSHES * RESOURCES * RECORDS;
const accept = (body: Buffer) =>
  atOnce(acceptPush(atOnce(decodeProtobufLogs(body, context)), { tenant: 'bench', ...context }));

const bytes = bodies.reduce((sum, body) => {
  const { lineBytes, metadataBytes } = accept(body);
  return sum + lineBytes + metadataBytes;
}, 0);
const stage = (name: string, run: () => unknown): StageCase => ({ name, bytes, lines: LINES, run });

export const cases: StageCase[] = [
  stage('protobuf', () => bodies.map(body => atOnce(decodeProtobufLogs(body, context)).count)),
  stage('json (with a copy of the body, which decoding changes)', () =>
    json.map(body => atOnce(decodeJsonLogs(Buffer.from(body), context)).count),
  ),
  stage('protobuf + accept with levels', () => bodies.map(body => accept(body).accepted.entries.length)),
  stage('protobuf + accept + sorted rows', () =>
    bodies.map(body => [...segmentsOf([accept(body).accepted])].length),
  ),
  stage('gunzip', async () => {
    for (const body of gzip) await unpackLogs(body, { contentEncoding: 'gzip' }, limits, held);
  }),
  stage('zstd', async () => {
    for (const body of zstd) await unpackLogs(body, { contentEncoding: 'zstd' }, limits, held);
  }),
];
