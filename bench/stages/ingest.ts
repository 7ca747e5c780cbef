/**
 * Bytes per second of the steps of a push: snappy, decoding, and acceptance with level detection. Lines have
 * the shapes and shares of the comparison with other servers: 45% of bytes JSON, 30% logfmt, 20% access log,
 * 5% other.
 */
import { compress } from 'snappyjs';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { decodeProtobufPush } from '../../shared/write/ingest/protobuf-push.ts';
import { releaseUncompressed, uncompressSnappy } from '../../shared/write/ingest/snappy.ts';

const NOW = 1_704_164_645_000_000_000n;
const LINES_PER_PUSH = 2000;
const PUSHES = 16;

interface Case {
  readonly name: string;
  /** Bytes of the input lines of one run, without labels, times and framing. */
  readonly bytes: number;
  readonly lines: number;
  run(): void;
}

/** Small generator of numbers below 2^32, always the same ones. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
}

const next = numbers(7);
const hex = () => next().toString(16).padStart(8, '0');
const pick = (list: readonly string[]) => list[(next() >>> 8) % list.length];
const LEVEL = ['info', 'info', 'info', 'info', 'debug', 'warn', 'error'];
const PATH = ['/api/v1/orders', '/api/v1/carts/items', '/login', '/static/js/chunk-8a2f.js', '/healthz'];

const SHAPES: readonly (() => string)[] = [
  () =>
    `{"ts":"2024-01-02T03:04:05.${next() % 1e6}Z","level":"${pick(LEVEL)}","logger":"http.server","msg":"request completed","method":"GET","path":"${pick(PATH)}/${next() % 1e6}","status":200,"duration_ms":${(next() % 1e5) / 100},"trace_id":"${hex()}${hex()}${hex()}${hex()}","span_id":"${hex()}${hex()}","user_id":"u-${next() % 2e4}","ctx":{"region":"eu-west-1","host":"ip-10-1-2-3","build":"1.12.3","attempt":1},"bytes_out":${next() % 1e5}}`,
  () =>
    `ts=2024-01-02T03:04:05.${next() % 1e6}Z level=${pick(LEVEL)} caller=engine.go:${next() % 700} component=querier tenant=t-${next() % 400} msg="executing query" traceID=${hex()}${hex()}${hex()}${hex()} duration=${next() % 1000}ms bytes=${next() % 1e5} shard=${next() % 16}`,
  () =>
    `10.${next() % 256}.${next() % 256}.7 - - [02/Jan/2024:03:04:05 +0000] "GET ${pick(PATH)} HTTP/1.1" 200 ${next() % 1e5} "-" "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0"`,
  () =>
    `2024-01-02T03:04:05.${next() % 1e6}Z ERROR [worker-${next() % 32}] com.example.batch.JobRunner - job ${hex()} failed\njava.net.SocketTimeoutException: Read timed out\n\tat com.example.net.HttpPool.execute(HttpPool.java:${next() % 900})\n\tat com.example.batch.JobRunner.run(JobRunner.java:${next() % 900})`,
];
/** Lines of each shape in 100: the shares of bytes over the mean lengths. */
const SHARE = [29, 38, 29, 4];

interface LabeledLines {
  readonly labels: Record<string, string>;
  readonly lines: string[];
}

function sample(): LabeledLines[] {
  return SHAPES.map((shape, i) => ({
    labels: {
      app: `app-${i}`,
      cluster: 'east',
      namespace: 'prod',
      pod: `app-${i}-${hex()}-0`,
      stream: 'stdout',
    },
    lines: Array.from({ length: (LINES_PER_PUSH / 100) * SHARE[i] }, shape),
  }));
}

const seconds = Number(NOW / 1_000_000_000n);

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

const field = (tag: number, content: Uint8Array) =>
  Buffer.concat([Buffer.from([tag, ...varint(content.length)]), content]);

function protobufOf(samples: LabeledLines[]): Buffer {
  return Buffer.concat(
    samples.map(({ labels, lines }) => {
      const text = `{${Object.entries(labels).map(([name, value]) => `${name}="${value}"`)}}`;
      const entries = lines.map((line, i) => {
        const time = Buffer.from([0x08, ...varint(seconds), 0x10, ...varint(i * 1000 + 7)]);
        return field(0x12, Buffer.concat([field(0x0a, time), field(0x12, Buffer.from(line))]));
      });
      return field(0x0a, Buffer.concat([field(0x0a, Buffer.from(text)), ...entries]));
    }),
  );
}

function jsonOf(samples: LabeledLines[]): Buffer {
  return Buffer.from(
    JSON.stringify({
      streams: samples.map(({ labels, lines }) => ({
        stream: labels,
        values: lines.map((line, i) => [`${seconds}${String(i).padStart(9, '0')}`, line]),
      })),
    }),
  );
}

const samples = Array.from({ length: PUSHES }, sample);
const protobuf = samples.map(protobufOf);
const blocks = protobuf.map(push => compress(push));
const json = samples.map(jsonOf);
const LINES = PUSHES * LINES_PER_PUSH;
const bytes = samples.flat().reduce((sum, { lines: list }) => sum + Buffer.byteLength(list.join('')), 0);
const MAX_BYTES = 100 * 1024 * 1024;
const context = { tenant: 'bench', limits: DEFAULT_LIMITS, nowNs: NOW };

export const cases: Case[] = [
  {
    name: 'snappy',
    bytes,
    lines: LINES,
    run() {
      for (const block of blocks) releaseUncompressed(atOnce(uncompressSnappy(block, MAX_BYTES)));
    },
  },
  {
    name: 'protobuf',
    bytes,
    lines: LINES,
    run() {
      for (const push of protobuf) atOnce(decodeProtobufPush(push));
    },
  },
  {
    name: 'json (with a copy of the body, which decoding changes)',
    bytes,
    lines: LINES,
    run() {
      for (const push of json) atOnce(decodeJsonPush(Buffer.from(push)));
    },
  },
  {
    name: 'protobuf + accept with levels',
    bytes,
    lines: LINES,
    run() {
      for (const push of protobuf) atOnce(acceptPush(atOnce(decodeProtobufPush(push)), context));
    },
  },
  {
    name: 'snappy + protobuf + accept with levels',
    bytes,
    lines: LINES,
    run() {
      for (const block of blocks)
        atOnce(acceptPush(atOnce(decodeProtobufPush(atOnce(uncompressSnappy(block, MAX_BYTES)))), context));
    },
  },
];
