/** The threads of this process, as Linux knows them. */
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';

/** Threads of V8 for the heaps of all threads. */
const OF_V8 = /V8Worker$/;

/** Number of threads with a lower priority than the main thread, without those of V8. Linux only. */
export async function lowThreads(): Promise<number> {
  return (await threads()).filter(({ name, nice }) => !OF_V8.test(name) && nice > getPriority()).length;
}

async function threads(): Promise<{ readonly name: string; readonly nice: number }[]> {
  const tasks = await readdir('/proc/self/task');
  // A thread may end in the meantime.
  const texts = await Promise.all(
    tasks.map(task => readFile(`/proc/self/task/${task}/stat`, 'utf8').catch(() => undefined)),
  );
  return texts
    .filter(text => text !== undefined)
    .map(text => {
      const end = text.lastIndexOf(')');
      // The name may hold anything; behind it nice is the 17th field.
      return {
        name: text.slice(text.indexOf('(') + 1, end),
        nice: Number(text.slice(end + 2).split(' ')[16]),
      };
    });
}
