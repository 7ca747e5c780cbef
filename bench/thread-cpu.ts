/** CPU time of each thread of a process, by name. Linux only (proc_pid_stat(5)). */
import { readdirSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100;
/** Field indexes after the name: utime and stime are the 14th and 15th of the line. */
const [USER, SYSTEM] = [11, 12];

/** CPU seconds since the threads started, summed by name; undefined without /proc. */
export function cpuOfThreads(pid: number): ReadonlyMap<string, number> | undefined {
  const folder = `/proc/${pid}/task`;
  const seconds = new Map<string, number>();
  let tasks: string[];
  try {
    tasks = readdirSync(folder);
  } catch {
    return undefined;
  }
  for (const task of tasks) {
    const line = statOf(`${folder}/${task}/stat`);
    if (line === undefined) continue;
    const end = line.lastIndexOf(')');
    const name = line.slice(line.indexOf('(') + 1, end);
    const fields = line.slice(end + 2).split(' ');
    const ticks = Number(fields[USER]) + Number(fields[SYSTEM]);
    seconds.set(name, (seconds.get(name) ?? 0) + ticks / CLOCK_TICKS_PER_SECOND);
  }
  return seconds;
}

/** A thread may end in the meantime. */
function statOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

/** CPU time of all threads that a process has now, ns since they started. Linux only. */
export function cpuNsOf(pid: number): number {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).reduce(
    (sum, task) => sum + Number(statOf(`${folder}/${task}/schedstat`)?.split(' ')[0] ?? 0),
    0,
  );
}
