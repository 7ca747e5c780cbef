/**
 * The lines that a live tail holds: those that are shown and, while it is paused, those that wait. Both are bounded; what is
 * over the bound goes, the oldest first, and is counted. Plain values: each change makes another buffer.
 */
import type { LogRow } from '../lines/rows.ts';

export interface TailBuffer {
  /** In the order in which they came. */
  readonly rows: readonly LogRow[];
  readonly waiting: readonly LogRow[];
  /** Lines that waited, and went because too many did. */
  readonly lostWaiting: number;
  /** Entries that the store did not send because this page was too slow. */
  readonly dropped: number;
  /** Rows that have left at the top since the last clear: what somebody reads moves up by them. */
  readonly trimmed: number;
  /** All that came, for keys. */
  readonly received: number;
}

/** Each takes about a kilobyte of the browser's memory. */
export const MAX_KEPT_ROWS = 5000;
export const MAX_WAITING_ROWS = 5000;

export const EMPTY_BUFFER: TailBuffer = {
  rows: [],
  waiting: [],
  lostWaiting: 0,
  dropped: 0,
  trimmed: 0,
  received: 0,
};

export function withRows(buffer: TailBuffer, came: readonly LogRow[], isPaused: boolean): TailBuffer {
  const received = buffer.received + came.length;
  // Keys count on, so that a row keeps its own while others go.
  const keyed = came.map((row, i) => ({ ...row, key: `${buffer.received + i}` }));
  if (!isPaused) return { ...withShown(buffer, keyed), received };
  const waiting = [...buffer.waiting, ...keyed];
  const over = Math.max(0, waiting.length - MAX_WAITING_ROWS);
  return { ...buffer, waiting: waiting.slice(over), lostWaiting: buffer.lostWaiting + over, received };
}

export function withDropped(buffer: TailBuffer, count: number): TailBuffer {
  return { ...buffer, dropped: buffer.dropped + count };
}

/** What waited is shown. */
export function resumed(buffer: TailBuffer): TailBuffer {
  return { ...withShown(buffer, buffer.waiting), waiting: [], lostWaiting: 0 };
}

/** Nothing is shown, and the notices are gone. */
export function cleared({ received }: TailBuffer): TailBuffer {
  return { ...EMPTY_BUFFER, received };
}

function withShown(buffer: TailBuffer, added: readonly LogRow[]): TailBuffer {
  const rows = [...buffer.rows, ...added];
  const over = Math.max(0, rows.length - MAX_KEPT_ROWS);
  return { ...buffer, rows: rows.slice(over), trimmed: buffer.trimmed + over };
}
