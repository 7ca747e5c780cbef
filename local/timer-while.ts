/**
 * A timer that runs only while it is needed. A timer that fires four times a second costs an idle process 0.3
 * % of a core.
 */
interface TimerWhile {
  /** Starts the timer, if it is not running, when there is something to check. */
  start(): void;
  stop(): void;
}

/**
 * Calls `look` once per period after `start`, until `isNeeded` returns false after a call. The timer does not
 * keep the process alive.
 */
export function timerWhile(isNeeded: () => boolean, look: () => void, periodMs: number): TimerWhile {
  let timer: NodeJS.Timeout | undefined;

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    start() {
      if (timer !== undefined) return;
      timer = setInterval(() => {
        look();
        if (!isNeeded()) stop();
      }, periodMs);
      timer.unref();
    },
    stop,
  };
}
