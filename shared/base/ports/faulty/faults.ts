/**
 * The dice of the faulty ports: which call is delayed, throttled, fails before its effect, or fails after it. The
 * last is the one that finds defects: the caller sees an error, but the write happened.
 *
 * Every call throws its dice at once and always the same number of them, so that the faults of a run depend on its
 * seed and on the order of its calls alone, also while the faults are switched off.
 */
import type { Clock } from '../clock.ts';
import { seededRandom } from '../memory/random.ts';
import { ThrottledError } from '../throttled.ts';

export interface FaultOptions {
  readonly seed: number;
  /** Delays sleep on it. */
  readonly clock: Clock;
  /** Probability (0 to 1) that a call fails without any effect. Default 0, as the others. */
  readonly errorBefore?: number;
  /** Probability that a call has its effect and then fails. */
  readonly errorAfter?: number;
  /** Probability that a call is refused with ThrottledError, without any effect. */
  readonly throttle?: number;
  /** Least and most ms that a call takes; a random part of it before the effect, the rest after. */
  readonly delayMs?: readonly [number, number];
}

export interface InjectedFault {
  /** Place of the call among all calls of the port, from 0. */
  readonly call: number;
  readonly operation: string;
  /** Object key, or the keys of the items. */
  readonly target: string;
  readonly kind: 'error-before' | 'error-after' | 'throttle';
}

/** Handle on the faults of one port. */
export interface Faults {
  /** Off, calls pass unchanged and undelayed. */
  enabled: boolean;
  /** Calls so far. */
  readonly calls: number;
  /** The newest MAX_FAULT_LOG faults, oldest first. */
  readonly log: readonly InjectedFault[];
}

export const MAX_FAULT_LOG = 10_000;

/** An error that the wrapper made up. `happened` tells a test what the caller cannot know. */
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
  /** Runs one call of a port with the faults that its dice gave it. */
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
