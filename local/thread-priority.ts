/** The priority of threads beside the one that serves. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Of the nice values of Linux, -20 to 19. A thread gets about a tenth of a core that a usual thread wants too, and all of it
 * otherwise.
 */
const NICE = constants.priority.PRIORITY_BELOW_NORMAL;

/** How Node names the threads in which V8 marks, sweeps and compiles for all heaps of the process (thread_name, proc_pid_comm(5)). */
const THREAD_OF_V8 = /(?:^|-)V8Worker$/;
const TASKS = '/proc/self/task';

/**
 * To be called in the thread: from now on others come first where there are more of them than cores. So with the threads of V8, which
 * then work for this thread most of all: while queries hold a few hundred MB in its heap, they mark it for a third of a core. Only on
 * Linux, where the system's call for process 0 means the thread that calls it, and each thread has a number of its own (setpriority(2),
 * "C library/kernel differences"); elsewhere it is the process. False where the priority stays as it is.
 */
export function lowerThreadPriority(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    setPriority(0, NICE);
    for (const thread of threadsOfV8()) setPriority(thread, NICE);
    return true;
  } catch {
    // Who forbids it has reasons of their own; the thread works all the same.
    return false;
  }
}

function threadsOfV8(): number[] {
  return readdirSync(TASKS).filter(isOfV8).map(Number);
}

function isOfV8(task: string): boolean {
  try {
    return THREAD_OF_V8.test(readFileSync(`${TASKS}/${task}/comm`, 'latin1').trim());
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
