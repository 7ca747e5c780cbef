/** The threads of this process, as Linux knows them. */
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';

/** How many have a lower priority than the main thread. Linux alone. */
export async function lowThreads(): Promise<number> {
  const own = getPriority();
  let count = 0;
  for (const task of await readdir('/proc/self/task')) {
    const text = await readFile(`/proc/self/task/${task}/stat`, 'utf8').catch(() => undefined);
    // Behind the name, which may hold anything, nice is the 17th field. A thread may end meanwhile.
    if (text !== undefined && Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]) > own) count++;
  }
  return count;
}
