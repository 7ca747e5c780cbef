/**
 * Names of chunks: 12 hex digits of the Unix ms at which the writing began, then 20 random ones. A name is used by one
 * attempt to write and never again, so an object belongs to the one commit that may name it: a retry cannot bring back
 * an object that is about to be collected. Names sort by age, and the age of an object is known without reading it.
 */
import type { Clock, Ids } from '../ports/clock.ts';

/**
 * From the start of writing to the commit, at most: who is later gives up. Far below the age at which objects without a
 * record are collected.
 */
export const MAX_COMMIT_MS = 600_000;

const TIME_DIGITS = 12;
const RANDOM_BYTES = 10;

export function newChunkId(clock: Clock, ids: Ids): string {
  return Math.trunc(clock.nowMs()).toString(16).padStart(TIME_DIGITS, '0') + ids.randomHex(RANDOM_BYTES);
}

/** Unix ms at which the writing of the chunk began. */
export function startedMsOf(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 16);
}
