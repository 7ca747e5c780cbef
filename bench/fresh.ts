/**
 * `npm run bench -- fresh`: queries over lines that were pushed 5 to 10 s ago while more follow, next to the same queries over
 * the same lines of another tenant after a flush. Each query has parameters that were never used before. Each kind of query
 * has two tenants for each round, so the first query is really the first use of their pages:
 *
 *     query, push 5 s at 10 MB/s, wait | first, second query | next tenant
 *     query, push 5 s at 10 MB/s, flush, wait | first, second query | next tenant
 *
 * The query before the push makes the store expect more (local/threads/recent-queries.ts). `--idle` omits it.
 *
 * CPU is that of the whole process, from the scheduler's counters in ns. Linux only.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE } from '../test/end-to-end/support/push.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';
import { cpuNsOf } from './thread-cpu.ts';

interface FreshOptions {
  readonly mb: number;
  readonly rounds: number;
  /** Whether the tenant has not queried before. */
  readonly isIdle: boolean;
  /** Names of the kinds of queries to measure. Default: all. */
  readonly only?: readonly string[] | undefined;
}

/** Medians over the rounds. */
interface Cost {
  readonly cpuMs: number;
  readonly ms: number;
}

interface FreshFigures {
  readonly name: string;
  readonly fresh: { readonly first: Cost; readonly second: Cost };
  readonly merged: { readonly first: Cost; readonly second: Cost };
  /** Entries or series of all responses, which fresh and merged lines must agree on where the query is the same. */
  readonly found: number;
}

/** Part of the driver's corpus. */
interface DriverBatch {
  readonly agent: number;
  readonly rawBytes: number;
  readonly streams: readonly { readonly entries: readonly (number | string)[] }[];
}

interface DriverModules {
  batches(options: object): Iterable<DriverBatch>;
  encode(batch: DriverBatch): Buffer;
}

/** Pushed lines of a tenant, for queries about them. */
interface Pushed {
  readonly tenant: string;
  readonly fromMs: number;
  readonly lines: readonly string[];
}

/** Counts the uses of a query, so that no two of them are equal. */
interface Use {
  readonly number: number;
  readonly lines: readonly string[];
}

const RATE = 10e6;
/** Too large to fill a merge by number. */
const BATCH_KB = 640;
const AGE_MS = 5_000;
/** Merges must not wait for the end of pushes. */
const BETWEEN_PUSHES_MS = 1_000;
const ALL = '{cluster=~".+"}';

/** Texts of 16 digits that are in one line only: parts of trace IDs. */
const ID = /"?trace_?ID"?[=:]"?([0-9a-f]{16})/i;

interface Kind {
  readonly name: string;
  query(use: Use): string;
  readonly isLog: boolean;
}

const KINDS: readonly Kind[] = [
  {
    name: 'rare text',
    isLog: true,
    query: ({ number, lines }) => `${ALL} |= "${idIn(lines, number)}"`,
  },
  { name: 'absent text', isLog: true, query: ({ number }) => `${ALL} |= "no-such-request-${4711 + number}"` },
  {
    name: 'level filter, counted',
    isLog: false,
    query: ({ number }) =>
      `sum by (app) (count_over_time({namespace=~".+", app!="none-${number}"} |= "level=error" != "none-${number}" [5s]))`,
  },
  {
    name: 'JSON status, counted',
    isLog: false,
    query: ({ number }) =>
      `sum by (status) (count_over_time({app=~"api-gateway|checkout"} | json | status >= ${300 + number} [5s]))`,
  },
  {
    name: 'logfmt percentile',
    isLog: false,
    query: ({ number }) =>
      `quantile_over_time(0.${900 + number}, {app=~"ingester|querier"} | logfmt | unwrap duration_seconds(duration) [5s]) by (app)`,
  },
  { name: 'newest 100 lines', isLog: true, query: ({ number }) => `{app="querier", pod!="none-${number}"}` },
];

/** @param folder folder of the driver */
export async function runFresh(
  folder: string,
  { mb, rounds, isIdle, only }: FreshOptions,
): Promise<FreshFigures[]> {
  const driver = await modulesOf(folder);
  const kinds = KINDS.filter(({ name }) => only === undefined || only.includes(name));
  return withStore(async ({ server }) => {
    const client = createClient(server.url);
    const run = new Run(client, server.pid, driver, { mb, isIdle });
    try {
      // Compiles what the queries use.
      for (let i = 0; i < 2; i++) await run.measure(kinds);
      const measured = kinds.map((): Sample[] => []);
      for (let round = 0; round < rounds; round++) {
        for (const [i, kind] of kinds.entries()) measured[i].push(...(await run.measure([kind])));
      }
      return kinds.map(({ name }, i) => figuresOf(name, measured[i]));
    } finally {
      client.close();
    }
  });
}

type Sample = readonly [Asked, Asked, Asked, Asked];

interface Asked extends Cost {
  readonly found: number;
}

class Run {
  readonly #client: HttpClient;
  readonly #pid: number;
  readonly #driver: DriverModules;
  readonly #mb: number;
  readonly #isIdle: boolean;
  #uses = 0;
  #seed = 0;

  constructor(
    client: HttpClient,
    pid: number,
    driver: DriverModules,
    { mb, isIdle }: Pick<FreshOptions, 'mb' | 'isIdle'>,
  ) {
    this.#client = client;
    this.#pid = pid;
    this.#driver = driver;
    this.#mb = mb;
    this.#isIdle = isIdle;
  }

  /** Asks each kind twice over new lines of a new tenant, and twice over those of another one after a flush. */
  async measure(kinds: readonly Kind[]): Promise<Sample[]> {
    const seed = ++this.#seed;
    const fresh = await this.#measureTenant(kinds, seed, false);
    const merged = await this.#measureTenant(kinds, seed, true);
    return fresh.map((asked, i) => [...asked, ...merged[i]]);
  }

  async #measureTenant(kinds: readonly Kind[], seed: number, isFlushed: boolean): Promise<[Asked, Asked][]> {
    const tenant = `${isFlushed ? 'merged' : 'fresh'}-${seed}`;
    if (!this.#isIdle)
      await this.#ask(KINDS[0], { tenant, fromMs: Date.now(), lines: ['trace_id=0123456789abcdef'] });
    const pushed = await this.#push(tenant, seed);
    if (isFlushed) await this.#flush(tenant);
    const pushing = new AbortController();
    const kept = this.#keepPushing(pushed.tenant, pushing.signal);
    await sleep(AGE_MS);
    const answers: [Asked, Asked][] = [];
    for (const kind of kinds) answers.push([await this.#ask(kind, pushed), await this.#ask(kind, pushed)]);
    pushing.abort();
    await kept;
    return answers;
  }

  async #push(tenant: string, seed: number): Promise<Pushed> {
    const seconds = (this.#mb * 1e6) / RATE;
    const fromMs = Date.now();
    const corpus = {
      mb: this.#mb,
      seed,
      start: fromMs,
      hours: seconds / 3600,
      'batch-kb': BATCH_KB,
    };
    const lines: string[] = [];
    const running = new Map<number, Promise<void>>();
    let bytes = 0;
    for (const batch of this.#driver.batches(corpus)) {
      const body = Buffer.from(this.#driver.encode(batch));
      lines.push(...batch.streams.map(({ entries }) => entries[2] as string));
      bytes += batch.rawBytes;
      await sleep(Math.max(0, fromMs + (bytes / RATE) * 1000 - Date.now()));
      await running.get(batch.agent);
      running.set(batch.agent, this.#send(tenant, body, PROTOBUF_TYPE));
    }
    await Promise.all(running.values());
    return { tenant, fromMs, lines };
  }

  async #keepPushing(tenant: string, signal: AbortSignal): Promise<void> {
    for (let i = 0; !signal.aborted; i++) {
      const values = [[`${Date.now()}000000`, `push ${i}`]];
      const body = JSON.stringify({ streams: [{ stream: { source: 'pauses' }, values }] });
      await this.#send(tenant, Buffer.from(body), 'application/json');
      await sleep(BETWEEN_PUSHES_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #send(tenant: string, body: Buffer, type: string): Promise<void> {
    const headers = { 'content-type': type, 'x-scope-orgid': tenant };
    const { status, text } = await this.#client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers,
      body,
    });
    if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
  }

  async #flush(tenant: string): Promise<void> {
    for (;;) {
      const { status, text } = await this.#client.send({
        method: 'POST',
        path: '/flush/tenant',
        headers: { 'x-scope-orgid': tenant },
      });
      if (status === 204) return;
      if (status !== 202) throw new Error(`a flush was answered ${status}: ${text}`);
    }
  }

  async #ask({ query, isLog }: Kind, { tenant, fromMs, lines }: Pushed): Promise<Asked> {
    const number = this.#uses++;
    // The end is the same for fresh and merged lines: the seconds in which they were pushed.
    const endMs = fromMs + (this.#mb * 1e9) / RATE;
    const params: Record<string, string> = {
      query: query({ number, lines }),
      start: `${fromMs}000000`,
      end: `${endMs}000000`,
    };
    if (isLog) params.limit = '100';
    else params.step = '5';
    const started = performance.now();
    const cpuNs = cpuNsOf(this.#pid);
    const { status, text } = await this.#client.send({
      path: '/loki/api/v1/query_range',
      query: params,
      headers: { 'x-scope-orgid': tenant },
    });
    const ms = performance.now() - started;
    const cpuMs = (cpuNsOf(this.#pid) - cpuNs) / 1e6;
    if (status !== 200) throw new Error(`${params.query} was answered ${status}: ${text}`);
    const { data } = JSON.parse(text) as { readonly data: { readonly result: readonly Found[] } };
    return { ms, cpuMs, found: data.result.reduce((sum, { values }) => sum + values.length, 0) };
  }
}

interface Found {
  readonly values: readonly unknown[];
}

function idIn(lines: readonly string[], number: number): string {
  for (let i = 0; i < lines.length; i++) {
    const id = ID.exec(lines[(number * 37 + i) % lines.length])?.[1];
    if (id !== undefined) return id;
  }
  throw new Error('no line has a trace ID');
}

async function modulesOf(folder: string): Promise<DriverModules> {
  const corpus = (await import(join(folder, 'corpus.mjs'))) as {
    readonly Corpus: new (options: object) => { batches(): Iterable<DriverBatch> };
    readonly normalizeCorpusOptions: (options: object) => object;
  };
  const wire = (await import(join(folder, 'wire.mjs'))) as {
    readonly encodeProto: (batch: DriverBatch) => Buffer;
    readonly snappyCompress: (bytes: Buffer) => Buffer;
  };
  return {
    batches: options => new corpus.Corpus(corpus.normalizeCorpusOptions(options)).batches(),
    encode: batch => wire.snappyCompress(wire.encodeProto(batch)),
  };
}

function figuresOf(name: string, samples: readonly Sample[]): FreshFigures {
  const cost = (at: number): Cost => ({
    cpuMs: median(samples.map(sample => sample[at].cpuMs)),
    ms: median(samples.map(sample => sample[at].ms)),
  });
  return {
    name,
    fresh: { first: cost(0), second: cost(1) },
    merged: { first: cost(2), second: cost(3) },
    found: samples.flat().reduce((sum, { found }) => sum + found, 0),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

export function freshTable(figures: readonly FreshFigures[]): string {
  const parts = ['first', 'second'] as const;
  const costs = ['cpuMs', 'ms'] as const;
  const tables = parts.map(part => {
    const head = [`${part} query`, ...costs.flatMap(() => ['fresh', 'merged', 'ratio']), 'found'];
    const units = ['', 'CPU ms', 'CPU ms', '', 'ms', 'ms', '', ''];
    const rows = figures.map(({ name, fresh, merged, found }): Cell[] => [
      name,
      ...costs.flatMap(cost => {
        const [ofFresh, ofMerged] = [fresh[part][cost], merged[part][cost]];
        return [ofFresh, ofMerged, ofFresh / ofMerged];
      }),
      found,
    ]);
    return formatTable(
      head.map((text, i) => (units[i] === '' ? text : `${text} ${units[i]}`)),
      rows,
    );
  });
  return tables.join('\n\n');
}
