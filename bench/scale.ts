/**
 * `npm run bench -- scale`: the same queries over the same hour, while the store grows to 1, 2 and 4 GB.
 * Their cost should depend on what they read, not on what is stored.
 */
import { getJson } from '../test/end-to-end/support/ask.ts';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { type Batch, CORPUS_NS, CORPUS_START_NS, generateBatches } from './corpus.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';

interface ScaleFigures {
  readonly sizesMb: readonly number[];
  readonly queries: readonly {
    readonly name: string;
    /** Median of warm runs by size, and the bytes that the store reports as read. */
    readonly medianMs: readonly number[];
    readonly readBytes: readonly number[];
  }[];
}

const TENANT = 'bench';
/** MB per hour: the corpus has a length of one hour. */
const MB_OF_HOUR = 125;
/** Days are merged separately; the first one contains the queried hour. */
const ASKED_HOUR = 2n;
const SIZES_MB = [1000, 2000, 4000];
const RUNS = 15;
const CONNECTIONS = 4;

const START = CORPUS_START_NS + ASKED_HOUR * CORPUS_NS;
const RANGE = { start: `${START}`, end: `${START + CORPUS_NS}`, step: '60' };
const QUERIES: readonly (readonly [string, string])[] = [
  ['rare text', '{env=~".+"} |= "store.go:417" |= "refused"'],
  ['count of all', 'sum(count_over_time({env=~".+"}[1m]))'],
  ['json field', 'sum by (status) (count_over_time({app="json-3"} | json | level="error" [1m]))'],
  [
    'logfmt average',
    'avg_over_time({app="logfmt-2"} | logfmt | unwrap duration_seconds(duration) [5m]) by (app)',
  ],
  ['newest lines', '{app="access-4"}'],
];

/** Sizes in MB of lines, ascending. */
export async function runScale(sizesMb: readonly number[] = SIZES_MB): Promise<ScaleFigures> {
  const batches = [...generateBatches(MB_OF_HOUR)];
  const figures = QUERIES.map(([name]) => ({ name, medianMs: [] as number[], readBytes: [] as number[] }));
  await withStore(async ({ server }) => {
    const client = createClient(server.url);
    let hours = 0;
    for (const size of sizesMb) {
      for (; hours * MB_OF_HOUR < size; hours++) await pushHour(client, batches, hours);
      await flush(client);
      for (const [i, [, query]] of QUERIES.entries()) {
        const { medianMs, readBytes } = await ask(client, query);
        figures[i].medianMs.push(medianMs);
        figures[i].readBytes.push(readBytes);
      }
    }
    client.close();
  });
  return { sizesMb, queries: figures };
}

async function pushHour(client: HttpClient, batches: readonly Batch[], hour: number): Promise<void> {
  const shift = BigInt(hour) * CORPUS_NS;
  let next = 0;
  const pusher = async () => {
    while (next < batches.length) {
      const { streams } = batches[next++];
      const moved = streams.map(({ labels, entries }) => ({
        labels,
        entries: entries.map(entry => ({ ...entry, ns: entry.ns + shift })),
      }));
      const headers = { 'content-type': PROTOBUF_TYPE, 'x-scope-orgid': TENANT };
      const body = snappyPush(moved);
      const { status, text } = await client.send({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers,
        body,
      });
      if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, pusher));
}

async function flush(client: HttpClient): Promise<void> {
  for (;;) {
    const headers = { 'x-scope-orgid': TENANT };
    const { status, text } = await client.send({ method: 'POST', path: '/flush/tenant', headers });
    if (status === 204) return;
    if (status !== 202) throw new Error(`a flush was answered ${status}: ${text}`);
  }
}

async function ask(client: HttpClient, query: string): Promise<{ medianMs: number; readBytes: number }> {
  const params = { ...RANGE, query, limit: '100' };
  const times: number[] = [];
  let readBytes = 0;
  for (let run = 0; run <= RUNS; run++) {
    const started = performance.now();
    const answer = (await getJson(client, '/api/v1/query_range', params, {
      tenant: TENANT,
    })) as StatisticsResponse;
    // The first run fills caches and shows how much there is to read.
    if (run === 0) readBytes = answer.data.stats.querier.store.chunk.compressedBytes;
    else times.push(performance.now() - started);
  }
  return { medianMs: times.sort((a, b) => a - b)[times.length >> 1], readBytes };
}

interface StatisticsResponse {
  readonly data: {
    readonly stats: {
      readonly querier: { readonly store: { readonly chunk: { readonly compressedBytes: number } } };
    };
  };
}

export function scaleTable({ sizesMb, queries }: ScaleFigures): string {
  const head: Cell[] = ['one hour of', ...sizesMb.flatMap(mb => [`${mb} MB: ms`, 'read KB'])];
  const rows = queries.map(({ name, medianMs, readBytes }): Cell[] => [
    name,
    ...medianMs.flatMap((ms, i) => [ms, readBytes[i] / 1000]),
  ]);
  return formatTable(head as string[], rows);
}
