/** Which errors a request may end with although nothing is wrong with the store. */

import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { ObjectNotFoundError } from '../../shared/base/ports/object-store.ts';

const NAMES = new Set(['InjectedFaultError', 'ThrottledError', 'ProcessKilledError']);

/**
 * True for what the wrapped ports and the death of a process cause. Every push and query of a run is valid, so an error
 * of a client would be a defect too. Throws BrokenInvariantError for an object that is missing.
 */
export function isFailureOfOutside(error: unknown): boolean {
  mustHold(INVARIANTS.readersMissNoObject, !(error instanceof ObjectNotFoundError), () => String(error));
  return error instanceof Error && NAMES.has(error.name);
}
