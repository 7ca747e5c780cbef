/** Server of `npm run bench -- processes`: `node server.ts MODE`, started with a message channel. */
import cluster, { type Worker as ClusterWorker } from 'node:cluster';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ThreadClient } from '../../local/threads/thread-client.ts';
import { listen } from './listen.ts';
import type { WorkCall } from './work-thread.ts';

export type ServerMode = 'threads' | 'cluster' | 'reuse-processes' | 'reuse-threads';

/**
 * CPU since `begin`, ms: of all, and of the thread or process that accepts connections. With SO_REUSEPORT,
 * that one does everything.
 */
export interface CpuTime {
  readonly allMs: number;
  readonly frontMs: number;
}

export type ServerMessage =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'begun' }
  | { readonly kind: 'used'; readonly usage: CpuTime };

const mode = process.argv[2] as ServerMode;
const tell = (message: ServerMessage) => process.send!(message);
const ofThread = () => msOf(process.threadCpuUsage());
const ofProcess = () => msOf(process.cpuUsage());

let worker: ClusterWorker | undefined;
if (!cluster.isPrimary) await serveInCluster();
else {
  const port = await start();
  let before = { allMs: 0, frontMs: 0 };
  process.on('message', async message => {
    const now = await used();
    if (message === 'begin') {
      before = now;
      tell({ kind: 'begun' });
    } else {
      const usage = { allMs: now.allMs - before.allMs, frontMs: now.frontMs - before.frontMs };
      tell({ kind: 'used', usage });
    }
  });
  tell({ kind: 'ready', port });
}

async function start(): Promise<number> {
  switch (mode) {
    case 'threads': {
      const thread = new ThreadClient<WorkCall, number>({
        name: 'work',
        entry: new URL('./work-thread.ts', import.meta.url),
        data: () => undefined,
        maxHeapMb: 512,
      });
      await thread.ready();
      return listen(body => thread.call({ body }));
    }
    case 'cluster': {
      worker = cluster.fork();
      const [port] = (await once(worker, 'message')) as [number];
      return port;
    }
    case 'reuse-processes': {
      const { work } = await import('./work.ts');
      return listen(async body => work(body), { reusesPort: true });
    }
    case 'reuse-threads': {
      const thread = new Worker(new URL('./listening-thread.ts', import.meta.url));
      const [port] = (await once(thread, 'message')) as [number];
      return port;
    }
  }
}

async function serveInCluster(): Promise<void> {
  const { work } = await import('./work.ts');
  process.send!(await listen(async body => work(body)));
  process.on('message', () => process.send!(ofProcess()));
}

async function used(): Promise<CpuTime> {
  const own = ofProcess();
  if (mode === 'threads') return { allMs: own, frontMs: ofThread() };
  if (worker === undefined) return { allMs: own, frontMs: own };
  worker.send('usage');
  const [ofWorker] = (await once(worker, 'message')) as [number];
  return { allMs: own + ofWorker, frontMs: own };
}

function msOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}
