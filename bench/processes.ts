/**
 * `npm run bench -- processes`: CPU of a request with constant work (decompress snappy, hash the lines), by
 * the process or thread that does it:
 *
 *     threads            the gateway passes it to a thread of another role, the body in shared memory, like the store
 *     cluster            node:cluster: the primary process accepts connections, another process reads requests and works
 *     reuse-processes    a process listens with SO_REUSEPORT, reads requests and works
 *     reuse-threads      the same in a thread
 *
 * The server runs in separate processes, so that the client's CPU is not counted. CPU seconds are compared
 * instead of rates, because the client uses a part of the machine.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { compress } from 'snappyjs';
import type { CpuTime, ServerMessage, ServerMode } from './processes/server.ts';

const MODES: readonly ServerMode[] = ['threads', 'cluster', 'reuse-processes', 'reuse-threads'];
/** Body sizes and counts: about 100 MB each. */
const BODIES = [
  { bytes: 10_000, requests: 6_000 },
  { bytes: 256_000, requests: 400 },
];
const RUNS = 3;
const CONNECTIONS = 4;

interface ProcessesFigure {
  readonly mode: ServerMode;
  readonly bodyBytes: number;
  /** CPU of all server threads and processes, and of the one that accepts and routes, ms per request. */
  readonly cpuMs: number;
  readonly frontMs: number;
}

/** Median run of each. */
export async function runProcesses(): Promise<ProcessesFigure[]> {
  const figures: ProcessesFigure[] = [];
  for (const { bytes: bodyBytes, requests } of BODIES) {
    const body = bodyOf(bodyBytes);
    const runs = new Map<ServerMode, CpuTime[]>(MODES.map(mode => [mode, []]));
    for (let run = 0; run < RUNS; run++) {
      for (const mode of MODES) runs.get(mode)!.push(await measure(mode, body, requests));
    }
    for (const [mode, usages] of runs) {
      const { allMs, frontMs } = usages.sort((a, b) => a.allMs - b.allMs)[Math.floor(RUNS / 2)];
      figures.push({ mode, bodyBytes, cpuMs: allMs / requests, frontMs: frontMs / requests });
    }
  }
  return figures;
}

export function processesTable(figures: readonly ProcessesFigure[]): string {
  const rows = figures.map(({ mode, bodyBytes, cpuMs, frontMs }) => {
    const cells = [bodyBytes / 1000, mode, cpuMs.toFixed(3), frontMs.toFixed(3)];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| body, kB | processing by | CPU of a request, ms | CPU of the accepting thread, ms |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Log lines that snappy compresses to a third, until the compressed body has the given length. */
function bodyOf(bytes: number): Uint8Array {
  let seed = 1;
  const random = () => (seed = Math.imul(seed, 48_271) >>> 0) / 2 ** 32;
  const lines: string[] = [];
  let length = 0;
  while (length < 2 * bytes) {
    const line = `{"level":"info","msg":"request served","path":"/api/${Math.floor(random() * 50)}","trace":"${random()}"}\n`;
    lines.push(line);
    length += line.length;
  }
  return compress(Buffer.from(lines.join('')));
}

async function measure(mode: ServerMode, body: Uint8Array, requests: number): Promise<CpuTime> {
  const server = fork(new URL('./processes/server.ts', import.meta.url), [mode]);
  try {
    const { port } = await heard(server, 'ready');
    await send(port, body, Math.ceil(requests / 2));
    server.send('begin');
    await heard(server, 'begun');
    await send(port, body, requests);
    server.send('end');
    return (await heard(server, 'used')).usage;
  } finally {
    const exited = once(server, 'exit');
    server.kill();
    await exited;
  }
}

async function heard<Kind extends ServerMessage['kind']>(
  server: ChildProcess,
  kind: Kind,
): Promise<Extract<ServerMessage, { kind: Kind }>> {
  for (;;) {
    const [message] = (await once(server, 'message')) as [ServerMessage];
    if (message.kind === kind) return message as Extract<ServerMessage, { kind: Kind }>;
  }
}

async function send(port: number, body: Uint8Array, requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = requests;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'content-length': body.length };
      const outgoing = request({ host: '127.0.0.1', port, method: 'POST', path: '/', agent, headers });
      outgoing.on('error', reject);
      outgoing.on('response', incoming => {
        if (incoming.statusCode !== 200) reject(new Error(`answered ${incoming.statusCode}`));
        incoming.on('end', resolve).resume();
      });
      outgoing.end(body);
    });
  const client = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
}
