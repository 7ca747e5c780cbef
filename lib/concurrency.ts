/**
 * How many calls of an account's quota the functions of queries may take, so that they cannot starve ingest. A reservation of
 * Lambda is a share kept free for a function, and its ceiling too: a cap on queries is what leaves the rest to pushes.
 *
 *     |-- query 10% --|------ workers 40% ------|-- maintenance 5% --|---- push, tails, everything else: 45% and more ----|
 *
 * What a reader would get wrong: Lambda refuses a reservation that leaves an account less than 100 calls, and a new account has
 * a quota of 10. So nothing is reserved unless the quota is told; then queries and pushes share all calls alike.
 */
import { UNRESERVED_CALLS } from './settings.ts';

export interface Reservations {
  readonly query: number;
  readonly worker: number;
  readonly maintenance: number;
}

/** Of a whole: a query hands out up to as many tasks as there are, so workers are asked for several times as often. */
const SHARES: Readonly<Record<keyof Reservations, number>> = { query: 0.1, worker: 0.4, maintenance: 0.05 };
/** Six jobs may be called in the same minute, and requests of rules and deletes come besides. */
const LEAST_MAINTENANCE = 10;

/** @param quota of the account, calls at once; 0: not told. Undefined where nothing is to be reserved. */
export function reservationsOf(quota: number): Reservations | undefined {
  if (quota === 0) return undefined;
  const free = quota - UNRESERVED_CALLS;
  const shareOf = (name: keyof Reservations) =>
    Math.max(1, Math.floor(Math.min(quota * SHARES[name], free * 0.7)));
  return {
    query: shareOf('query'),
    worker: Math.min(shareOf('worker'), free - shareOf('query') - LEAST_MAINTENANCE - 1),
    maintenance: Math.max(LEAST_MAINTENANCE, shareOf('maintenance')),
  };
}
