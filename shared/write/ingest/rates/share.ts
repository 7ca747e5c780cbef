/** How processes divide a rate among themselves, each for itself and all alike. */
import { EVEN_PART, EXCHANGE_MS } from './bounds.ts';

/**
 * The part of a rate that is a process's own: by demand, and a small part evenly. Where all know the same of each
 * other their parts make 1, and a process that is alone has all.
 *
 * @param own demand of the process, any unit
 * @param others demand of all others
 * @param processes how many share, the process itself too
 */
export function shareOf(own: number, others: number, processes: number): number {
  const all = own + others;
  const byDemand = all > 0 ? own / all : 1 / processes;
  return EVEN_PART / processes + (1 - EVEN_PART) * byDemand;
}

/**
 * Bytes per second of what was offered in some time. Told after a longer silence it came lately for the most part;
 * after a shorter time it may be a single push.
 */
export function demandOf(bytes: number, elapsedMs: number): number {
  return (bytes * 1000) / Math.min(2 * EXCHANGE_MS, Math.max(EXCHANGE_MS, elapsedMs));
}
