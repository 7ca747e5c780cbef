/**
 * Random decisions of the faulty ports: whether a call is delayed, throttled, fails before its effect, or
 * fails after it. The last kind finds the most defects: the caller sees an error, but the write happened.
 *
 * Each call draws the same number of random values immediately, even while faults are disabled. The faults of
 * a run thus depend only on its seed and on the order of its calls.
 */
import type { Clock } from '../clock.ts';
import { seededRandom } from '../memory/random.ts';
import { ThrottledError } from '../throttled.ts';

export interface FaultOptions {
  readonly seed: number;
  /** Clock for delays. */
  readonly clock: Clock;
  /** Probability (0 to 1) that a call fails without any effect. All probabilities default to 0. */
  readonly errorBefore?: number;
  /** Probability that a call has its effect and then fails. */
  readonly errorAfter?: number;
  /** Probability that a call is refused with ThrottledError, without any effect. */
  readonly throttle?: number;
  /** Minimum and maximum duration of a call, ms. A random part of it precedes the effect. */
  readonly delayMs?: readonly [number, number];
}

interface InjectedFault {
  /** Index of the call among all calls of the port, from 0. */
  readonly call: number;
  readonly operation: string;
  /** Object key, or keys of the items. */
  readonly target: string;
  readonly kind: 'error-before' | 'error-after' | 'throttle';
}

/** Controls the faults of one port. */
export interface Faults {
  /** Whether faults are injected. If false, calls pass unchanged and without delay. */
  enabled: boolean;
  /** Number of calls so far. */
  readonly calls: number;
  /** Latest MAX_FAULT_LOG faults, oldest first. */
  readonly log: readonly InjectedFault[];
}

const MAX_FAULT_LOG = 10_000;

/**
 * Injected error. `happened` informs a test whether the call had its effect, which a caller cannot detect.
 */
export class InjectedFaultError extends Error {
  readonly happened: boolean;

  constructor(operation: string, target: string, happened: boolean) {
    super(`injected fault ${happened ? 'after' : 'before'} ${operation} ${target}`);
    this.name = 'InjectedFaultError';
    this.happened = happened;
  }
}

export interface FaultInjector {
  readonly faults: Faults;
  /** Runs one call of a port with the faults drawn for it. */
  call<T>(operation: string, target: string, effect: () => Promise<T>): Promise<T>;
}

export function faultInjector(options: FaultOptions): FaultInjector {
  const {
    seed,
    clock,
    errorBefore = 0,
    errorAfter = 0,
    throttle = 0,
    delayMs: [leastMs, mostMs] = [0, 0],
  } = options;
  const random = seededRandom(seed);
  const log: InjectedFault[] = [];
  let calls = 0;
  const faults = {
    enabled: true,
    log,
    get calls() {
      return calls;
    },
  };

  const record = (call: number, operation: string, target: string, kind: InjectedFault['kind']): void => {
    if (log.length === MAX_FAULT_LOG) log.shift();
    log.push({ call, operation, target, kind });
  };

  return {
    faults,
    async call(operation, target, effect) {
      const call = calls++;
      const [throttleDie, beforeDie, afterDie, delayDie, splitDie] = [
        random(),
        random(),
        random(),
        random(),
        random(),
      ];
      if (!faults.enabled) return effect();

      const delayMs = leastMs + delayDie * (mostMs - leastMs);
      const firstMs = Math.round(delayMs * splitDie);
      const lastMs = Math.round(delayMs) - firstMs;
      if (firstMs > 0) await clock.sleep(firstMs);
      if (throttleDie < throttle) {
        record(call, operation, target, 'throttle');
        throw new ThrottledError(`injected throttle of ${operation} ${target}`);
      }
      if (beforeDie < errorBefore) {
        record(call, operation, target, 'error-before');
        throw new InjectedFaultError(operation, target, false);
      }
      const result = await effect();
      if (lastMs > 0) await clock.sleep(lastMs);
      if (afterDie < errorAfter) {
        record(call, operation, target, 'error-after');
        throw new InjectedFaultError(operation, target, true);
      }
      return result;
    },
  };
}
