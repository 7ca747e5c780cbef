/**
 * Lines of a live tail: those that are shown, and those that wait while it is paused. Both are bounded. Lines
 * beyond the bound are dropped, oldest first, and counted. Plain values: each change creates another buffer.
 */
import type { LogRow } from '../lines/rows.ts';

export interface TailBuffer {
  /** Rows in order of arrival. */
  readonly rows: readonly LogRow[];
  readonly waiting: readonly LogRow[];
  /** Number of waiting lines that were dropped because there were too many. */
  readonly lostWaiting: number;
  /** Number of entries that the store did not send because this page was too slow. */
  readonly dropped: number;
  /** Number of rows removed at the top since the last clear, by which the visible rows move up. */
  readonly trimmed: number;
  /** Number of all received rows, for keys. */
  readonly received: number;
}

/** Maximum number of rows. Each takes about a kilobyte of the browser's memory. */
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
  // Keys continue, so that a row keeps its key while others are removed.
  const keyed = came.map((row, i) => ({ ...row, key: `${buffer.received + i}` }));
  if (!isPaused) return { ...withShown(buffer, keyed), received };
  const waiting = [...buffer.waiting, ...keyed];
  const over = Math.max(0, waiting.length - MAX_WAITING_ROWS);
  return { ...buffer, waiting: waiting.slice(over), lostWaiting: buffer.lostWaiting + over, received };
}

export function withDropped(buffer: TailBuffer, count: number): TailBuffer {
  return { ...buffer, dropped: buffer.dropped + count };
}

/** Shows the waiting lines. */
export function resumed(buffer: TailBuffer): TailBuffer {
  return { ...withShown(buffer, buffer.waiting), waiting: [], lostWaiting: 0 };
}

/** Removes all lines and notices. */
export function cleared({ received }: TailBuffer): TailBuffer {
  return { ...EMPTY_BUFFER, received };
}

function withShown(buffer: TailBuffer, added: readonly LogRow[]): TailBuffer {
  const rows = [...buffer.rows, ...added];
  const over = Math.max(0, rows.length - MAX_KEPT_ROWS);
  return { ...buffer, rows: rows.slice(over), trimmed: buffer.trimmed + over };
}
