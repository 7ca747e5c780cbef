/** The priority of a thread beside the one that serves. */
import { constants, setPriority } from 'node:os';

/**
 * Of the nice values of Linux, -20 to 19. A thread gets about a tenth of a core that a usual thread wants too, and all of it
 * otherwise.
 */
const NICE = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * To be called in the thread: from now on others come first where there are more of them than cores. Only on Linux, where the
 * system's call for process 0 means the thread that calls it (setpriority(2), "C library/kernel differences"); elsewhere it is the
 * process. False where the priority stays as it is.
 */
export function lowerThreadPriority(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    setPriority(0, NICE);
    return true;
  } catch {
    // Who forbids it has reasons of their own; the thread works all the same.
    return false;
  }
}
