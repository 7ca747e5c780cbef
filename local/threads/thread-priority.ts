/** Priority of the upkeep thread. Its work can wait, but requests cannot, unless merging is behind. */
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Added to the nice value of the process (Linux: -20 to 19). On a contended core, a thread then gets about a
 * tenth, and all of it otherwise.
 */
const NICE_ABOVE_PROCESS = 10;
const MAX_NICE = constants.priority.PRIORITY_LOW;

/**
 * Lowers the priority of the calling thread, so that request threads come first if there are more threads
 * than cores. Works only on Linux, where process 0 in the system call means the calling thread
 * (setpriority(2), "C library/kernel differences"). On other systems it would be the process. Returns false
 * if the priority does not change.
 */
export function lowerThreadPriority(): boolean {
  return setAboveProcess(NICE_ABOVE_PROCESS);
}

/**
 * Raises the priority of the calling thread to that of request threads, so a query still gets an equal share
 * of a core. Linux allows it to root, with CAP_SYS_NICE, or under a limit (`LimitNICE=` of systemd). Returns
 * false if the priority does not change.
 */
export function raiseThreadPriority(): boolean {
  return setAboveProcess(0);
}

function setAboveProcess(nice: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // Relative to the main thread, whose ID is that of the process.
    setPriority(0, Math.min(getPriority(process.pid) + nice, MAX_NICE));
    return true;
  } catch {
    // The system may forbid it, for example in a service manager. The thread works anyway.
    return false;
  }
}
