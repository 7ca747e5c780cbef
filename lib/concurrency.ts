/**
 * Reserved concurrency of query functions, so that they cannot starve ingest. A reservation of Lambda
 * guarantees a share, and is also its maximum. Limiting queries therefore leaves the rest to pushes.
 *
 *     |-- query 10% --|------ workers 40% ------|-- maintenance 5% --|---- push, tails, everything else: 45% and more ----|
 *
 * Maintenance gets more if the configuration lets more functions merge a day of one tenant.
 *
 * Pitfall: Lambda refuses a reservation that leaves an account less than 100 unreserved calls, and a new
 * account has a quota of 10. So nothing is reserved unless the quota is set; then queries and pushes share
 * all calls.
 */
import { UNRESERVED_CALLS } from './settings.ts';

interface Reservations {
  readonly query: number;
  readonly worker: number;
  readonly maintenance: number;
}

/** Shares of the quota. A query calls workers for several tasks, so workers need several times its share. */
const SHARES: Readonly<Record<keyof Reservations, number>> = { query: 0.1, worker: 0.4, maintenance: 0.05 };
/**
 * Calls of maintenance in addition to the functions that merge a day: six jobs may start in the same minute,
 * in addition to requests for rules and deletes.
 */
const OTHER_MAINTENANCE = 10;
/** Maximum share of the calls that can be reserved, for maintenance. */
const MOST_MAINTENANCE = 0.4;

/**
 * @param quota concurrent calls of the account; 0 if unknown. Returns undefined if nothing is to be reserved.
 * @param compactionFunctions functions that may merge a day of one tenant (`max_compaction_functions`). They
 *   fit if the quota is large enough; otherwise, Lambda refuses more and the merges wait.
 */
export function reservationsOf(quota: number, compactionFunctions: number): Reservations | undefined {
  if (quota === 0) return undefined;
  const free = quota - UNRESERVED_CALLS;
  const shareOf = (name: keyof Reservations) =>
    Math.max(1, Math.floor(Math.min(quota * SHARES[name], free * 0.7)));
  const query = shareOf('query');
  const merging = Math.min(compactionFunctions + OTHER_MAINTENANCE, Math.floor(free * MOST_MAINTENANCE));
  const maintenance = Math.max(OTHER_MAINTENANCE, shareOf('maintenance'), merging);
  return { query, worker: Math.min(shareOf('worker'), free - query - maintenance - 1), maintenance };
}
