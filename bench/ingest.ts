/**
 * Ingest and a few queries with the project's own corpus, without other inputs. Bodies are created before the
 * clock starts. Figures are comparable between versions on one machine, not with other servers.
 */
import { readFileSync } from 'node:fs';
import { getJson } from '../test/end-to-end/support/ask.ts';
import { createClient, type HttpClient, type QueryParams } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches, NEEDLE } from './corpus.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';

interface OwnResult {
  readonly mb: number;
  readonly lines: number;
  readonly ingest: {
    readonly seconds: number;
    readonly mbPerSecond: number;
    readonly linesPerSecond: number;
  };
  readonly peakRssMb: number | null;
  readonly queries: readonly { readonly name: string; readonly firstMs: number; readonly bestMs: number }[];
}

const CONNECTIONS = 4;
const QUERY_RUNS = 4;
const TENANT = 'bench';

const RANGE = { start: `${CORPUS_START_NS}`, end: `${CORPUS_START_NS + CORPUS_NS}` };
const STEP = { ...RANGE, step: '60' };
const QUERIES: readonly (readonly [string, string, QueryParams])[] = [
  ['newest lines', '/api/v1/query_range', { ...RANGE, query: '{app="json-1"}' }],
  ['a needle', '/api/v1/query_range', { ...RANGE, query: `{env=~".+"} |= "${NEEDLE}"`, limit: '5000' }],
  ['an absent needle', '/api/v1/query_range', { ...RANGE, query: '{env=~".+"} |= "needle-absent"' }],
  ['a regex', '/api/v1/query_range', { ...RANGE, query: '{env="prod"} |~ "status(=|\\":)50[0-9].*refused"' }],
  ['count of all', '/api/v1/query_range', { ...STEP, query: 'sum(count_over_time({env=~".+"}[1m]))' }],
  [
    'json',
    '/api/v1/query_range',
    { ...STEP, query: 'sum by (status) (count_over_time({app=~"json-.*"} | json | level="error" [1m]))' },
  ],
  [
    'logfmt, unwrap',
    '/api/v1/query_range',
    {
      ...STEP,
      query:
        'quantile_over_time(0.99, {app=~"logfmt-.*"} | logfmt | unwrap duration_seconds(duration) [1m]) by (app)',
    },
  ],
  ['labels', '/api/v1/labels', RANGE],
  ['series', '/api/v1/series', RANGE],
];

export async function runOwn(mb: number): Promise<{ result: OwnResult; table: string }> {
  const bodies: Uint8Array[] = [];
  let bytes = 0;
  let lines = 0;
  for (const batch of generateBatches(mb)) {
    bodies.push(snappyPush(batch.streams));
    bytes += batch.bytes;
    lines += batch.lines;
  }
  const result = await withStore(async ({ server }): Promise<OwnResult> => {
    const client = createClient(server.url);
    const seconds = await pushAll(client, bodies);
    const queries = [];
    for (const [name, path, params] of QUERIES) queries.push({ name, ...(await ask(client, path, params)) });
    const peakRssMb = peakRssMbOf(server.pid);
    client.close();
    const rates = { mbPerSecond: bytes / 1e6 / seconds, linesPerSecond: lines / seconds };
    return { mb: bytes / 1e6, lines, ingest: { seconds, ...rates }, peakRssMb, queries };
  });
  return { result, table: tableOf(result) };
}

/** Seconds until everything was acknowledged. */
async function pushAll(client: HttpClient, bodies: readonly Uint8Array[]): Promise<number> {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < bodies.length; i = next++) {
      const { status, text } = await client.send({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'content-type': PROTOBUF_TYPE, 'x-scope-orgid': TENANT },
        body: bodies[i],
      });
      if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return (performance.now() - startMs) / 1000;
}

async function ask(client: HttpClient, path: string, params: QueryParams) {
  const times: number[] = [];
  for (let run = 0; run < QUERY_RUNS; run++) {
    const startMs = performance.now();
    await getJson(client, path, params, { tenant: TENANT });
    times.push(performance.now() - startMs);
  }
  return { firstMs: times[0], bestMs: Math.min(...times) };
}

/** Peak memory, if the system reports it (Linux). */
function peakRssMbOf(pid: number): number | null {
  try {
    const kb = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kb === undefined ? null : (Number(kb) * 1024) / 1e6;
  } catch {
    return null;
  }
}

function tableOf({ mb, lines, ingest, peakRssMb, queries }: OwnResult): string {
  const figures: Cell[][] = [
    ['data, MB', mb],
    ['lines', lines],
    ['ingest, MB/s', ingest.mbPerSecond],
    ['ingest, lines/s', ingest.linesPerSecond],
    ['peak RSS, MB', peakRssMb],
  ];
  const asked = queries.map(({ name, firstMs, bestMs }): Cell[] => [name, firstMs, bestMs]);
  return `${formatTable(['', 'Logboom'], figures)}\n\n${formatTable(['', 'first ms', 'best ms'], asked)}`;
}
