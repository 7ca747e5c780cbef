/** CPU profile of work in this process: self time of each function. */
import { type Profiler, Session } from 'node:inspector/promises';
import { basename } from 'node:path';

/** Sampling interval, µs; finer ones change what they measure. */
const SAMPLE_US = 250;

interface SelfTime {
  /** Function, file and line; entries such as `(garbage collector)` have no file. */
  readonly name: string;
  readonly ms: number;
}

export async function profiled(work: () => Promise<void>): Promise<Profiler.Profile> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
    await session.post('Profiler.start');
    await work();
    const { profile } = await session.post('Profiler.stop');
    return profile;
  } finally {
    session.disconnect();
  }
}

/** Self times, largest first. */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): SelfTime[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const ms = new Map<string, number>();
  for (let i = 0; i < samples.length; i++) {
    const name = names.get(samples[i])!;
    ms.set(name, (ms.get(name) ?? 0) + (timeDeltas[i + 1] ?? timeDeltas[i]) / 1000);
  }
  return [...ms].map(([name, total]) => ({ name, ms: total })).sort((a, b) => b.ms - a.ms);
}

function nameOf({ functionName, url, lineNumber }: Profiler.Profile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName;
  return `${functionName === '' ? '(anonymous)' : functionName}  ${basename(url)}:${lineNumber + 1}`;
}
