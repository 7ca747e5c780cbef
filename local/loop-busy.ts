/** How busy the event loop of this thread has been lately. */

/** Long against one page or push, short against what a person notices. */
const WINDOW_MS = 50;

/** Returns a function that tells the share of time, 0 to 1, in the last window that was over when it was asked. */
export function loopBusy(): () => number {
  let before = performance.eventLoopUtilization();
  let beforeMs = performance.now();
  let share = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - beforeMs >= WINDOW_MS) {
      const now = performance.eventLoopUtilization();
      share = performance.eventLoopUtilization(now, before).utilization;
      before = now;
      beforeMs = nowMs;
    }
    return share;
  };
}
