/** Repeats writes that are conditional on what was read before, until no other process writes in between. */
import { ConditionFailedError } from './table.ts';

/** Result of an attempt whose condition failed. */
export const CONFLICT = Symbol('conflict');

interface RepeatOptions {
  readonly maxTries: number;
  /** Creates the error after the last conflict. */
  readonly tooMany: () => Error;
}

/**
 * @param attempt reads, then writes. Resolves to CONFLICT or throws ConditionFailedError if another process
 *   wrote in between.
 */
export async function repeatConflicts<T>(
  { maxTries, tooMany }: RepeatOptions,
  attempt: () => Promise<T | typeof CONFLICT>,
): Promise<T> {
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      const result = await attempt();
      if (result !== CONFLICT) return result;
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
    }
  }
  throw tooMany();
}
