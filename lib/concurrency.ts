/**
 * Reserved concurrency of query functions, so that they cannot starve ingest. A reservation of Lambda
 * guarantees a share, and is also its maximum. Limiting queries therefore leaves the rest to pushes.
 *
 *     |-- query 10% --|------ workers 40% ------|-- maintenance 5% --|---- push, tails, everything else: 45% and more ----|
 *
 * Pitfall: Lambda refuses a reservation that leaves an account less than 100 unreserved calls, and a new
 * account has a quota of 10. So nothing is reserved unless the quota is set; then queries and pushes share
 * all calls.
 */
import { UNRESERVED_CALLS } from './settings.ts';

export interface Reservations {
  readonly query: number;
  readonly worker: number;
  readonly maintenance: number;
}

/** Shares of the quota. A query calls workers for several tasks, so workers need several times its share. */
const SHARES: Readonly<Record<keyof Reservations, number>> = { query: 0.1, worker: 0.4, maintenance: 0.05 };
/**
 * Minimum for maintenance: six jobs may start in the same minute, in addition to requests for rules and
 * deletes.
 */
const LEAST_MAINTENANCE = 10;

/**
 * @param quota concurrent calls of the account; 0 if unknown. Returns undefined if nothing is to be reserved.
 */
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
