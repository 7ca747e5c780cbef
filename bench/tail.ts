/**
 * Live tails: their cost per push, and their delay. Rounds with no, one and many tails alternate, because the
 * machine's speed changes over minutes; CPU is that of the store's process. Pushes are sent as fast as they
 * are acknowledged, or at a moderate rate, where push latency is meaningful.
 *
 * Readers run in a separate process (tail-readers.ts) but share the cores. With many tails at full speed,
 * pushes lack the CPU of the readers and the network. So compare the store's CPU per push.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';
import type { ReaderOrder, ReaderReport } from './tail-readers.ts';

const READERS = resolvePath(import.meta.dirname, 'tail-readers.ts');
const TENANT = 'bench';
const TAILS = 100;
const CONNECTIONS = 4;
/** CPU is reported in steps of 10 ms. */
const ROUND_MS = 2_500;
const ROUNDS = 7;
const LINES = 100;
/** Tails match one line of each push. */
const LINE = 'x'.repeat(150);
const QUERY = '{app="bench"} |= "needle"';
/** About a fifth of the store's maximum. */
const OFFERED_PER_SECOND = 200;
const PROBES = 100;
/**
 * A dispatch pauses before the next one (REST_MS of shared/read/tail): pushes shortly after it, and pushes to
 * an idle store.
 */
const PROBE_PAUSES_MS = [10, 100];
const CLOCK_TICKS_PER_SECOND = 100;

interface TailLoadFigures {
  readonly tails: number;
  /** Undefined pushes as fast as responses arrive. */
  readonly offeredPerSecond: number | undefined;
  readonly pushesPerSecond: number;
  readonly pushMsP50: number;
  readonly pushMsP99: number;
  readonly cpuMsPerPush: number | null;
  readonly framesPerSecond: number;
  /** Share of the entries that a tail should show. */
  readonly droppedShare: number;
}

interface LatencyFigures {
  readonly tails: number;
  /** Pause between the frame of one push and the next push. */
  readonly pauseMs: number;
  /** Time from the response to a push to the frame at the last tail. */
  readonly msP50: number;
  readonly msP95: number;
}

interface TailFigures {
  readonly load: readonly TailLoadFigures[];
  readonly latency: readonly LatencyFigures[];
  /** CPU of the store until TAILS tails were opened and have shown something, ms per tail. */
  readonly openCpuMs: number | null;
}

export async function runTailBench(): Promise<TailFigures> {
  return withStore(async ({ server }) => {
    const client = createClient(server.url);
    const readers = startReaders(server.url);
    try {
      await load(client, server.pid, { tails: 0, ms: 1_000 });
      const rounds: TailLoadFigures[] = [];
      let openCpuMs: number | null = null;
      for (let round = 0; round < ROUNDS; round++) {
        for (const offeredPerSecond of [undefined, OFFERED_PER_SECOND]) {
          for (const tails of [0, 1, TAILS]) {
            const beforeMs = cpuMsOf(server.pid);
            await readers.open(tails);
            // A new tail costs one lookback, which is not part of a push's cost.
            await shownByAll(client, readers);
            const openedMs = cpuMsOf(server.pid);
            if (tails === TAILS && beforeMs !== null && openedMs !== null) {
              openCpuMs = Math.min(openCpuMs ?? Infinity, (openedMs - beforeMs) / TAILS);
            }
            rounds.push(await load(client, server.pid, { tails, offeredPerSecond, ms: ROUND_MS, readers }));
            await readers.close();
          }
        }
      }
      const latency: LatencyFigures[] = [];
      for (const tails of [1, TAILS]) {
        await readers.open(tails);
        await shownByAll(client, readers);
        for (const pauseMs of PROBE_PAUSES_MS) {
          latency.push({ tails, pauseMs, ...(await probe(client, readers, pauseMs)) });
        }
        await readers.close();
      }
      return { load: rounds, latency, openCpuMs };
    } finally {
      readers.end();
      client.close();
    }
  });
}

type Counted = Omit<Extract<ReaderReport, { kind: 'counted' }>, 'kind'>;

interface Readers {
  open(count: number): Promise<void>;
  /** Once it watches: a promise of the time when the last tail has shown the text, Unix ms. */
  watch(text: string): Promise<{ readonly shown: Promise<number> }>;
  count(): Promise<Counted>;
  close(): Promise<void>;
  end(): void;
}

function startReaders(url: string): Readers {
  const child: ChildProcess = fork(READERS, { stdio: 'inherit' });
  const report = () => new Promise<ReaderReport>(resolve => child.once('message', resolve));
  const ask = (order: ReaderOrder): Promise<ReaderReport> => {
    child.send(order);
    return report();
  };
  return {
    async open(count) {
      const query = new URLSearchParams({ query: QUERY, limit: '1', start: `${Date.now() * 1e6}` });
      const tailUrl = `${url.replace('http', 'ws')}/loki/api/v1/tail?${query}`;
      await ask({ kind: 'open', url: tailUrl, tenant: TENANT, count });
    },
    async watch(text) {
      await ask({ kind: 'await', text });
      return { shown: report().then(one => (one.kind === 'shown' ? one.atMs : Number.NaN)) };
    },
    async count() {
      const counted = await ask({ kind: 'count' });
      if (counted.kind !== 'counted') throw new Error(`unexpected message of the readers: ${counted.kind}`);
      return counted;
    },
    async close() {
      await ask({ kind: 'close' });
    },
    end: () => child.disconnect(),
  };
}

let pushed = 0;

function bodyOf(lines: number): Uint8Array {
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const entries = Array.from({ length: lines }, (_, i) => ({
    ns: nowNs + BigInt(i),
    line: i === 0 ? `needle ${++pushed} ${LINE}` : `line ${i} ${LINE}`,
  }));
  return snappyPush([{ labels: { app: 'bench', service_name: 'bench' }, entries }]);
}

async function push(client: HttpClient, lines: number): Promise<void> {
  const headers = { 'content-type': PROTOBUF_TYPE, 'x-scope-orgid': TENANT };
  const body = bodyOf(lines);
  const { status, text } = await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
  if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
}

interface LoadOptions {
  readonly tails: number;
  readonly ms: number;
  readonly offeredPerSecond?: number | undefined;
  readonly readers?: Readers;
}

async function load(
  client: HttpClient,
  pid: number,
  { tails, ms, offeredPerSecond, readers }: LoadOptions,
): Promise<TailLoadFigures> {
  const times: number[] = [];
  const before = await readers?.count();
  const cpuBefore = cpuMsOf(pid);
  const startMs = performance.now();
  const timed = async (fromMs: number): Promise<void> => {
    await push(client, LINES);
    times.push(performance.now() - fromMs);
  };
  const isOver = () => performance.now() - startMs >= ms;
  if (offeredPerSecond === undefined) {
    const worker = async (): Promise<void> => {
      while (!isOver()) await timed(performance.now());
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  } else {
    // Timed from when each was due, so that a late store cannot hide it.
    const running: Promise<void>[] = [];
    for (let i = 0; !isOver(); i++) {
      const dueMs = startMs + (i * 1000) / offeredPerSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs));
      running.push(timed(performance.now()));
    }
    await Promise.all(running);
  }
  const seconds = (performance.now() - startMs) / 1000;
  const cpuAfter = cpuMsOf(pid);
  const after = await readers?.count();
  const frames = (after?.frames ?? 0) - (before?.frames ?? 0);
  const dropped = (after?.dropped ?? 0) - (before?.dropped ?? 0);
  times.sort((a, b) => a - b);
  return {
    tails,
    offeredPerSecond,
    pushesPerSecond: times.length / seconds,
    pushMsP50: quantile(times, 0.5),
    pushMsP99: quantile(times, 0.99),
    cpuMsPerPush: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / times.length,
    framesPerSecond: frames / seconds,
    droppedShare: tails === 0 ? 0 : dropped / (tails * times.length),
  };
}

/**
 * Pushes a line and waits until all tails have shown it; returns the ms from the response to the last frame.
 */
async function shownByAll(client: HttpClient, readers: Readers): Promise<number> {
  const { shown } = await readers.watch(`needle ${pushed + 1} `);
  await push(client, 1);
  const answeredMs = performance.timeOrigin + performance.now();
  return (await shown) - answeredMs;
}

async function probe(
  client: HttpClient,
  readers: Readers,
  pauseMs: number,
): Promise<{ msP50: number; msP95: number }> {
  const times: number[] = [];
  for (let i = 0; i < PROBES; i++) {
    times.push(await shownByAll(client, readers));
    await new Promise(resolve => setTimeout(resolve, pauseMs));
  }
  times.sort((a, b) => a - b);
  return { msP50: quantile(times, 0.5), msP95: quantile(times, 0.95) };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** User and system time, if the system reports it (Linux). */
function cpuMsOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

export function tailTable({ load: rounds, latency, openCpuMs }: TailFigures): string {
  const head = [
    'tails',
    'offered/s',
    'pushes/s',
    'push p50 ms',
    'push p99 ms',
    'cpu ms/push',
    'frames/s',
    'dropped',
  ];
  const rows = rounds.map((one): Cell[] => [
    one.tails,
    one.offeredPerSecond ?? 'all',
    one.pushesPerSecond,
    one.pushMsP50,
    one.pushMsP99,
    one.cpuMsPerPush,
    one.framesPerSecond,
    one.droppedShare,
  ]);
  const sharesHead = [
    'tails',
    'offered/s',
    'pushes/s, share',
    'cpu/push, times',
    'p50, ms more',
    'p99, ms more',
  ];
  const shares = [undefined, OFFERED_PER_SECOND].flatMap(offered =>
    [1, TAILS].map((tails): Cell[] => {
      const median = (figure: (one: TailLoadFigures, without: TailLoadFigures) => number) =>
        medianOf(rounds, { tails, offered }, figure);
      return [
        tails,
        offered ?? 'all',
        median((one, without) => one.pushesPerSecond / without.pushesPerSecond),
        median((one, without) => (one.cpuMsPerPush ?? Number.NaN) / (without.cpuMsPerPush ?? Number.NaN)),
        median((one, without) => one.pushMsP50 - without.pushMsP50),
        median((one, without) => one.pushMsP99 - without.pushMsP99),
      ];
    }),
  );
  const latencyHead = ['tails', 'pause ms', 'answer to last frame p50 ms', 'p95 ms'];
  const soon = latency.map((one): Cell[] => [one.tails, one.pauseMs, one.msP50, one.msP95]);
  return [
    formatTable(head, rows),
    `against no tails, medians of ${ROUNDS} rounds:\n${formatTable(sharesHead, shares)}`,
    formatTable(latencyHead, soon),
    `to open one of ${TAILS} tails, until it has shown something: ${openCpuMs} ms of the store's CPU`,
  ].join('\n\n');
}

/** Compares each round with the round without tails just before it. */
function medianOf(
  rounds: readonly TailLoadFigures[],
  { tails, offered }: { readonly tails: number; readonly offered: number | undefined },
  figure: (one: TailLoadFigures, without: TailLoadFigures) => number,
): number {
  const like = rounds.filter(({ offeredPerSecond }) => offeredPerSecond === offered);
  const without = like.filter(one => one.tails === 0);
  const figures = like.filter(one => one.tails === tails).map((one, i) => figure(one, without[i]));
  return quantile(
    figures.sort((a, b) => a - b),
    0.5,
  );
}
