/**
 * Live tails: what they cost a push, and how soon they show it. Rounds without, with one and with many tails take turns, because the machine
 * is not the same from one minute to the next; CPU is that of the store's process.
 *
 * Clients and pushes share this process, so times to a frame hold what a hundred clients in one process need, too.
 */
import { readFileSync } from 'node:fs';
import WebSocket from 'ws';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';

const TENANT = 'bench';
const TAILS = 100;
const CONNECTIONS = 4;
const ROUND_MS = 2_500;
const ROUNDS = 7;
const LINES = 100;
/** Of a push, one line is what the tails ask for. */
const LINE = 'x'.repeat(150);
const QUERY = '{app="bench"} |= "needle"';
const PROBES = 100;
/** After a dispatch the next one waits (REST_MS of shared/tail): pushes that come behind it, and pushes to a store at rest. */
const PROBE_PAUSES_MS = [10, 100];
const CLOCK_TICKS_PER_SECOND = 100;

export interface LoadFigures {
  readonly tails: number;
  readonly pushesPerSecond: number;
  readonly pushMsP50: number;
  readonly pushMsP99: number;
  readonly cpuMsPerPush: number | null;
  readonly framesPerSecond: number;
}

export interface LatencyFigures {
  readonly tails: number;
  /** Between the frame of one push and the next push. */
  readonly pauseMs: number;
  /** From the answer to a push to the frame at the last of the tails. */
  readonly msP50: number;
  readonly msP95: number;
}

export interface TailFigures {
  readonly load: readonly LoadFigures[];
  readonly latency: readonly LatencyFigures[];
}

export async function runTailBench(): Promise<TailFigures> {
  return withStore(async ({ server }) => {
    const client = createClient(server.url);
    await load(client, server.pid, 0, 1_000);
    const rounds: LoadFigures[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const count of [0, 1, TAILS]) {
        const tails = await openTails(server.url, count);
        // A tail that comes costs a lookback, once: not what is asked here.
        await shownByAll(client, tails);
        rounds.push(await load(client, server.pid, count, ROUND_MS, tails));
        await closeTails(tails);
      }
    }
    const latency: LatencyFigures[] = [];
    for (const count of [1, TAILS]) {
      const tails = await openTails(server.url, count);
      await shownByAll(client, tails);
      for (const pauseMs of PROBE_PAUSES_MS) {
        latency.push({ tails: count, pauseMs, ...(await probe(client, tails, pauseMs)) });
      }
      await closeTails(tails);
    }
    client.close();
    return { load: rounds, latency };
  });
}

interface Tail {
  readonly socket: WebSocket;
  onMessage: (text: string) => void;
  frames: number;
}

async function openTails(url: string, count: number): Promise<Tail[]> {
  const query = new URLSearchParams({ query: QUERY, limit: '1', start: `${Date.now() * 1e6}` });
  const open = Array.from({ length: count }, async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail?${query}`, {
      headers: { 'x-scope-orgid': TENANT },
      perMessageDeflate: false,
    });
    const tail: Tail = { socket, onMessage: () => undefined, frames: 0 };
    socket.on('message', data => {
      tail.frames++;
      tail.onMessage((data as Buffer).toString());
    });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return tail;
  });
  return Promise.all(open);
}

async function closeTails(tails: readonly Tail[]): Promise<void> {
  const closed = tails.map(({ socket }) => new Promise(resolve => socket.once('close', resolve)));
  for (const { socket } of tails) socket.close();
  await Promise.all(closed);
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

async function load(
  client: HttpClient,
  pid: number,
  count: number,
  ms: number,
  tails: readonly Tail[] = [],
): Promise<LoadFigures> {
  const times: number[] = [];
  const framesBefore = tails.reduce((sum, { frames }) => sum + frames, 0);
  const cpuBefore = cpuMsOf(pid);
  const startMs = performance.now();
  const worker = async (): Promise<void> => {
    while (performance.now() - startMs < ms) {
      const sentMs = performance.now();
      await push(client, LINES);
      times.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - startMs) / 1000;
  const cpuAfter = cpuMsOf(pid);
  const frames = tails.reduce((sum, tail) => sum + tail.frames, 0) - framesBefore;
  times.sort((a, b) => a - b);
  return {
    tails: count,
    pushesPerSecond: times.length / seconds,
    pushMsP50: quantile(times, 0.5),
    pushMsP99: quantile(times, 0.99),
    cpuMsPerPush: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / times.length,
    framesPerSecond: frames / seconds,
  };
}

/** Pushes a line and waits until all tails have shown it; returns the ms from the answer to the last frame. */
async function shownByAll(client: HttpClient, tails: readonly Tail[]): Promise<number> {
  const wanted = `needle ${pushed + 1} `;
  const shown = tails.map(
    tail =>
      new Promise<void>(resolve => {
        tail.onMessage = text => {
          if (text.includes(wanted)) resolve();
        };
      }),
  );
  await push(client, 1);
  const answeredMs = performance.now();
  await Promise.all(shown);
  for (const tail of tails) tail.onMessage = () => undefined;
  return performance.now() - answeredMs;
}

async function probe(
  client: HttpClient,
  tails: readonly Tail[],
  pauseMs: number,
): Promise<{ msP50: number; msP95: number }> {
  const times: number[] = [];
  for (let i = 0; i < PROBES; i++) {
    times.push(await shownByAll(client, tails));
    await new Promise(resolve => setTimeout(resolve, pauseMs));
  }
  times.sort((a, b) => a - b);
  return { msP50: quantile(times, 0.5), msP95: quantile(times, 0.95) };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** User and system time, where the system tells it (Linux). */
function cpuMsOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

export function tailTable({ load: rounds, latency }: TailFigures): string {
  const head = ['tails', 'pushes/s', 'push p50 ms', 'push p99 ms', 'cpu ms/push', 'frames/s'];
  const rows = rounds.map((one): Cell[] => [
    one.tails,
    one.pushesPerSecond,
    one.pushMsP50,
    one.pushMsP99,
    one.cpuMsPerPush,
    one.framesPerSecond,
  ]);
  const soon = latency.map((one): Cell[] => [one.tails, one.pauseMs, one.msP50, one.msP95]);
  const latencyHead = ['tails', 'pause ms', 'answer to last frame p50 ms', 'p95 ms'];
  const shares = [1, TAILS].map((count): Cell[] => [
    count,
    medianOf(rounds, count, (one, without) => one.pushesPerSecond / without.pushesPerSecond),
    medianOf(rounds, count, (one, without) => (one.cpuMsPerPush ?? NaN) - (without.cpuMsPerPush ?? NaN)),
  ]);
  const sharesHead = ['tails', 'pushes/s, of those without', 'cpu ms/push, more than without'];
  return [
    formatTable(head, rows),
    `medians of ${ROUNDS} rounds:\n${formatTable(sharesHead, shares)}`,
    formatTable(latencyHead, soon),
  ].join('\n\n');
}

/** Each round beside the one without tails just before it. */
function medianOf(
  rounds: readonly LoadFigures[],
  count: number,
  figure: (one: LoadFigures, without: LoadFigures) => number,
): number {
  const without = rounds.filter(({ tails }) => tails === 0);
  const figures = rounds.filter(({ tails }) => tails === count).map((one, i) => figure(one, without[i]));
  return quantile(
    figures.sort((a, b) => a - b),
    0.5,
  );
}
