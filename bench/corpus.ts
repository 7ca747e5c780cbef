/**
 * Project's own corpus, used if no other is given: JSON, logfmt and access log lines of forty streams over an
 * hour, reproducible by seed. 45% of the bytes are JSON, 30% logfmt, 25% access log.
 */
import { NS_PER_SECOND } from '../shared/base/model/time-units.ts';
import type { PushedEntry, PushedStream } from '../test/end-to-end/support/push.ts';

export interface Batch {
  readonly streams: readonly PushedStream[];
  readonly bytes: number;
  readonly lines: number;
}

export const CORPUS_START_NS = 1_704_067_200n * NS_PER_SECOND;
export const CORPUS_NS = 3600n * NS_PER_SECOND;
/** Text in one line of each batch. */
export const NEEDLE = 'needle-5f3a9c';

const BATCH_BYTES = 500_000;
const STREAMS_PER_BATCH = 5;
const LINES_PER_STREAM = 400;
const KINDS = ['json', 'logfmt', 'access'] as const;
const APPS_OF_KIND = { json: 18, logfmt: 12, access: 10 };
const LEVELS = ['info', 'info', 'info', 'info', 'debug', 'warn', 'error'];
const MESSAGES = [
  'request handled',
  'cache miss',
  'retrying upstream',
  'connection refused',
  'lease renewed',
];
const PATHS = ['/', '/api/v1/users', '/api/v1/orders/17', '/static/app.js', '/search?q=shoes&page=3'];

type LineKind = (typeof KINDS)[number];
type Random = (below: number) => number;

/** Batches of 0.5 MB until `mb` are reached; their times cover the corpus from start to end. */
export function* generateBatches(mb: number, seed = 1): Generator<Batch> {
  const random = createRandom(seed);
  const total = Math.ceil((mb * 1e6) / BATCH_BYTES);
  for (let number = 0; number < total; number++) {
    const from = CORPUS_START_NS + (CORPUS_NS * BigInt(number)) / BigInt(total);
    yield makeBatch(from, CORPUS_NS / BigInt(total), random);
  }
}

function makeBatch(from: bigint, spanNs: bigint, random: Random): Batch {
  const streams: PushedStream[] = [];
  let bytes = 0;
  let lines = 0;
  for (let i = 0; bytes < BATCH_BYTES; i++) {
    const share = random(20);
    const kind = share < 9 ? 'json' : share < 15 ? 'logfmt' : 'access';
    const app = `${kind}-${random(APPS_OF_KIND[kind])}`;
    const entries: PushedEntry[] = [];
    for (let line = 0; line < LINES_PER_STREAM && bytes < BATCH_BYTES; line++) {
      const ns = from + (spanNs * BigInt((i % STREAMS_PER_BATCH) * LINES_PER_STREAM + line)) / 4000n;
      const text = makeLine(kind, ns, random) + (i === 0 && line === 0 ? ` ${NEEDLE}` : '');
      entries.push({ ns, line: text });
      bytes += text.length;
    }
    lines += entries.length;
    streams.push({ labels: { app, env: random(4) === 0 ? 'dev' : 'prod' }, entries });
  }
  return { streams, bytes, lines };
}

function makeLine(kind: LineKind, ns: bigint, random: Random): string {
  const time = new Date(Number(ns / 1_000_000n)).toISOString();
  const level = LEVELS[random(LEVELS.length)];
  const message = MESSAGES[random(MESSAGES.length)];
  const path = PATHS[random(PATHS.length)];
  const status = [200, 200, 200, 204, 301, 404, 500, 503][random(8)];
  const ms = random(2000);
  const trace = `${random(2 ** 32).toString(16)}${random(2 ** 32).toString(16)}`;
  switch (kind) {
    case 'json':
      return `{"ts":"${time}","level":"${level}","msg":"${message}","path":"${path}","status":${status},"duration_ms":${ms},"trace_id":"${trace}","user":{"id":${random(9999)},"tier":"gold"}}`;
    case 'logfmt':
      return `ts=${time} level=${level} caller=store.go:${random(900)} msg="${message}" duration=${ms}ms status=${status} trace=${trace}`;
    case 'access':
      return `10.0.${random(256)}.${random(256)} - - [${time}] "GET ${path} HTTP/1.1" ${status} ${random(99_999)} "-" "Mozilla/5.0 (X11; Linux x86_64)"`;
  }
}

/** Random integers below `below`, reproducible by seed. */
function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return below => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
