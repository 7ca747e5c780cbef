/**
 * A canary: two writers push known entries while readers follow them in live tails, disconnect and reconnect.
 * At the end each entry must have been in the tails of each reader, once, and in a query, once.
 *
 * A reader reconnects as clients do, from its last entry, and omits the entries that it has. So the test
 * counts entries that a connection showed twice, and entries that no connection showed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findEntries } from './ask.ts';
import { createClient, type HttpClient } from './client.ts';
import { openTail, type TailClient } from './tail-client.ts';

interface CanaryOptions {
  readonly url: string;
  readonly tenant: string;
  readonly durationMs: number;
  readonly readers?: number;
  /** Push rate of each writer. */
  readonly pushesPerSecond?: number;
  /** A reader stays connected so long, ms. */
  readonly stayMs?: number;
}

interface CanaryReport {
  readonly pushed: number;
  readonly connections: number;
  /** Entries that no connection of a reader showed, and that one connection showed twice; over all readers. */
  readonly missedInTail: number;
  readonly twiceInTail: number;
  readonly missedInQuery: number;
  readonly twiceInQuery: number;
}

const WRITERS = 2;
/** Time for the last entries to appear. */
const SETTLE_MS = 15_000;
const POLL_MS = 20;
const PAGE = 5000;

export async function runCanary(options: CanaryOptions): Promise<CanaryReport> {
  const { url, tenant, durationMs, readers: count = 2, pushesPerSecond = 50, stayMs = 700 } = options;
  const client = createClient(url);
  const app = `canary-${process.pid}-${Date.now()}`;
  const startNs = BigInt(Date.now()) * 1_000_000n;
  const acknowledged = new Map<string, bigint>();
  const readers = Array.from(
    { length: count },
    (_, i) => new Reader(url, tenant, app, startNs, stayMs * (1 + i / 2)),
  );
  const reading = readers.map(reader => reader.keepReading());
  try {
    const endMs = Date.now() + durationMs;
    await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) =>
        keepPushing(client, { tenant, app, writer, endMs, pauseMs: 1000 / pushesPerSecond, acknowledged }),
      ),
    );
    const latestMs = Date.now() + SETTLE_MS;
    const isComplete = () => readers.every(({ seen }) => seen.size >= acknowledged.size);
    while (!isComplete() && Date.now() < latestMs) await sleep(POLL_MS);
  } finally {
    for (const reader of readers) reader.stop();
    await Promise.all(reading);
  }
  const inQuery = await queried(client, { tenant, app, startNs });
  client.close();
  const missing = (seen: { has(line: string): boolean }) =>
    [...acknowledged.keys()].filter(line => !seen.has(line)).length;
  return {
    pushed: acknowledged.size,
    connections: readers.reduce((sum, { connections }) => sum + connections, 0),
    missedInTail: readers.reduce((sum, { seen }) => sum + missing(seen), 0),
    twiceInTail: readers.reduce((sum, { twice }) => sum + twice, 0),
    missedInQuery: missing(inQuery),
    twiceInQuery: [...inQuery.values()].filter(times => times > 1).length,
  };
}

interface Writing {
  readonly tenant: string;
  readonly app: string;
  readonly writer: number;
  readonly endMs: number;
  readonly pauseMs: number;
  readonly acknowledged: Map<string, bigint>;
}

async function keepPushing(client: HttpClient, writing: Writing): Promise<void> {
  const { tenant, app, writer, endMs, pauseMs, acknowledged } = writing;
  const headers = { 'content-type': 'application/json', 'x-scope-orgid': tenant };
  for (let i = 0; Date.now() < endMs; i++) {
    const ns = BigInt(Date.now()) * 1_000_000n + BigInt(i % 1_000_000);
    const line = `writer ${writer} entry ${i}`;
    const stream = { app, writer: `${writer}`, service_name: app };
    const body = JSON.stringify({ streams: [{ stream, values: [[`${ns}`, line]] }] });
    const { status, text } = await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
    if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
    acknowledged.set(line, ns);
    await sleep(pauseMs);
  }
}

class Reader {
  readonly seen = new Set<string>();
  twice = 0;
  connections = 0;
  #isStopping = false;
  readonly #open: () => Promise<TailClient>;
  readonly #stayMs: number;

  constructor(url: string, tenant: string, app: string, startNs: bigint, stayMs: number) {
    // All of it again, each time: what a connection shows must be whole by itself.
    const params = { query: `{app="${app}"}`, start: `${startNs}`, limit: `${PAGE}` };
    this.#open = () => openTail({ url }, params, { tenant });
    this.#stayMs = stayMs;
  }

  stop(): void {
    this.#isStopping = true;
  }

  async keepReading(): Promise<void> {
    while (!this.#isStopping) {
      const tail = await this.#open();
      this.connections++;
      const untilMs = Date.now() + this.#stayMs;
      while (!this.#isStopping && Date.now() < untilMs) {
        await sleep(POLL_MS);
        for (const line of tail.lines()) this.seen.add(line);
      }
      const lines = tail.lines();
      for (const line of lines) this.seen.add(line);
      this.twice += lines.length - new Set(lines).size;
      await tail.close();
    }
  }
}

/** Lines of a query with how often each is in it. */
async function queried(
  client: HttpClient,
  { tenant, app, startNs }: { tenant: string; app: string; startNs: bigint },
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let start = startNs;
  for (;;) {
    const entries = await findEntries(
      client,
      {
        query: `{app="${app}"}`,
        start: `${start}`,
        end: `${BigInt(Date.now() + 60_000) * 1_000_000n}`,
        limit: `${PAGE}`,
        direction: 'forward',
      },
      { tenant },
    );
    for (const { line } of entries) found.set(line, (found.get(line) ?? 0) + 1);
    if (entries.length < PAGE) return found;
    // Timestamps of a writer are its own: the page ends between two of them, or one is read again and looks like two.
    for (const { ns } of entries) if (ns >= start) start = ns + 1n;
  }
}
