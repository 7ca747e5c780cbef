/** The priority of the upkeep thread: what it does can wait, what requests ask cannot, until merging is behind. */
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Added to the nice value of the process (Linux: -20 to 19). A thread then gets about a tenth of a core that another thread wants too,
 * and all of it otherwise.
 */
const NICE_ABOVE_PROCESS = 10;
const MAX_NICE = constants.priority.PRIORITY_LOW;

/**
 * To be called in the thread: from now on threads of requests come first if there are more of them than cores. Only on Linux, where the
 * system's call for process 0 means the calling thread (setpriority(2), "C library/kernel differences"); elsewhere it is the process.
 * False if the priority stays as it is.
 */
export function lowerThreadPriority(): boolean {
  return setAboveProcess(NICE_ABOVE_PROCESS);
}

/**
 * To be called in the thread: from now on it has the priority of threads of requests, so a query still gets as much of a core as it. Linux
 * allows it to root, with CAP_SYS_NICE, or under a limit (`LimitNICE=` of systemd). False if the priority stays as it is.
 */
export function raiseThreadPriority(): boolean {
  return setAboveProcess(0);
}

function setAboveProcess(nice: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // Of the main thread, whose number is that of the process.
    setPriority(0, Math.min(getPriority(process.pid) + nice, MAX_NICE));
    return true;
  } catch {
    // The system may forbid it, as a service manager does; the thread works all the same.
    return false;
  }
}
