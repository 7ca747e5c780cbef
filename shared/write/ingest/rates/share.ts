/** Divides a rate among processes. Each process computes its own share with the same rule. */
import { EVEN_PART, EXCHANGE_MS } from './bounds.ts';

/**
 * Returns the share of a process in a rate: by demand, plus a small even part. If all processes know the same
 * demands, the shares add up to 1. A single process has the whole rate.
 *
 * @param own demand of the process, any unit
 * @param others demand of all others
 * @param processes number of processes that share the rate, including this one
 */
export function shareOf(own: number, others: number, processes: number): number {
  const all = own + others;
  const byDemand = all > 0 ? own / all : 1 / processes;
  return EVEN_PART / processes + (1 - EVEN_PART) * byDemand;
}

/**
 * Returns the bytes per second offered in an interval. After a longer silence most of it arrived recently; a
 * shorter interval may contain a single push. Both bounds limit the error.
 */
export function demandOf(bytes: number, elapsedMs: number): number {
  return (bytes * 1000) / Math.min(2 * EXCHANGE_MS, Math.max(EXCHANGE_MS, elapsedMs));
}
