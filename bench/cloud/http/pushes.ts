/**
 * Pushes of `npm run bench -- cloud` over real HTTP, from many concurrent agents, each of which waits for its
 * responses.
 *
 * Agents, store and the server that stands in for AWS share the cores of one machine. So the CPU time of each
 * for a push is measured, too: it does not depend on what else the machine does, and shows which of them
 * limits the rate.
 */
import { availableParallelism } from 'node:os';
import { cpuOfThreads } from '../../thread-cpu.ts';
import { type CloudServices, TENANT, withServices, withStore } from './measure.ts';
import { PushAgent } from './push-agent.ts';
import { SenderBodies } from './sender-bodies.ts';

export interface PushFigure {
  readonly name: string;
  readonly pushesPerS: number;
  readonly mbPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU milliseconds for a push: store, server that stands in for AWS, agents. */
  readonly storeCpuMs: number;
  readonly servicesCpuMs: number;
  readonly agentsCpuMs: number;
  /** The thread of the store that worked most, and its share of a core. */
  readonly busiestThread: string;
  readonly busiestShare: number;
  /** Mean time that responses of the server were late. */
  readonly lateMs: number;
  readonly bound: string;
}

interface PushSettings {
  readonly name: string;
  readonly bytes: number;
  readonly atOnce: number;
  readonly seconds: number;
}

/** The store compiles its code and learns how long a write takes. */
const WARM_UP_MS = 5000;
/** Share of a core, or of all cores, that counts as busy. */
const BUSY_SHARE = 0.9;

export async function pushesOverHttp(settings: PushSettings): Promise<PushFigure> {
  return withServices(services => withStore(services, store => measurePushes(settings, services, store)));
}

async function measurePushes(
  { name, bytes, atOnce, seconds }: PushSettings,
  services: CloudServices,
  { url, pid }: { readonly url: string; readonly pid: number },
): Promise<PushFigure> {
  const bodies = new SenderBodies(bytes);
  const cpuNow = () => ({
    store: cpuOfThreads(pid),
    services: cpuOf(services.pid),
    agents: cpuOf(process.pid),
  });
  const waits: number[] = [];
  const startedMs = performance.now();
  const warmMs = startedMs + WARM_UP_MS;
  const endMs = warmMs + seconds * 1000;
  const warmedUp = waitUntil(warmMs).then(async () => {
    await services.sent();
    return cpuNow();
  });
  const ended = waitUntil(endMs).then(async () => ({ cpu: cpuNow(), sent: await services.sent() }));
  const runAgent = async () => {
    const agent = new PushAgent(url, TENANT);
    const memory = Buffer.allocUnsafeSlow(bodies.maxBytes);
    while (performance.now() < endMs) {
      const body = bodies.next(memory);
      const sentMs = performance.now();
      await agent.push(body);
      const answeredMs = performance.now();
      if (answeredMs >= warmMs && answeredMs < endMs) waits.push(answeredMs - sentMs);
    }
    agent.close();
  };
  await Promise.all(Array.from({ length: atOnce }, runAgent));
  const before = await warmedUp;
  const { cpu: after, sent } = await ended;
  waits.sort((a, b) => a - b);
  const threads = [...(after.store ?? [])].map(
    ([thread, cpuS]) => [thread, cpuS - (before.store?.get(thread) ?? 0)] as const,
  );
  const storeS = threads.reduce((sum, [, cpuS]) => sum + cpuS, 0);
  const [busiestThread, busiestS] = threads.reduce((most, one) => (one[1] > most[1] ? one : most), [
    '',
    0,
  ] as const);
  const servicesS = after.services - before.services;
  const agentsS = after.agents - before.agents;
  const msOf = (cpuS: number) => (cpuS * 1000) / waits.length;
  const isBusy = (cpuS: number, cores = 1) => cpuS / seconds > BUSY_SHARE * cores;
  const cores = availableParallelism();
  const pushesPerS = waits.length / seconds;
  return {
    name,
    pushesPerS,
    mbPerS: (pushesPerS * bytes) / 1e6,
    p50Ms: waits[Math.floor(waits.length / 2)],
    p99Ms: waits[Math.floor(waits.length * 0.99)],
    storeCpuMs: msOf(storeS),
    servicesCpuMs: msOf(servicesS),
    agentsCpuMs: msOf(agentsS),
    busiestThread,
    busiestShare: busiestS / seconds,
    lateMs: sent.lateMs,
    bound: boundOf([
      [isBusy(busiestS), `store: ${busiestThread}`],
      [isBusy(servicesS), 'stand-in for AWS'],
      [isBusy(agentsS), 'agents'],
      [isBusy(storeS + servicesS + agentsS, cores), `${cores} cores`],
    ]),
  };
}

/** Busy resource, or otherwise the responses that the agents wait for. */
function boundOf(parts: readonly (readonly [boolean, string])[]): string {
  return parts.find(([isBusy]) => isBusy)?.[1] ?? 'waiting';
}

function cpuOf(pid: number): number {
  return [...(cpuOfThreads(pid)?.values() ?? [])].reduce((sum, seconds) => sum + seconds, 0);
}

function waitUntil(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms - performance.now()));
}
