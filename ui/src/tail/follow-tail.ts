/**
 * Live tail that reconnects until it is ended or refused. Browsers send no headers with a WebSocket, so:
 *
 *     tokens are enabled                  a ticket, valid for one minute, is in the URL
 *     one tenant, or a proxy sets it      nothing is needed
 *     tenant in a header, no tokens       the store is polled every POLL_MS, because no WebSocket could name the tenant
 *
 * Browsers also do not report why a WebSocket was refused. So the query first runs as an ordinary query over
 * one second of logs: its response shows problems of the query, the tenant or the token.
 */
import { NS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import { ApiError, isAbort } from '../api/errors.ts';
import type { LogRow } from '../lines/rows.ts';
import { createShown, type ShownRows } from './shown.ts';
import { isFinal, isOrdinary, refusalOf, type TailFrame } from './tail-frame.ts';

export type TailState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live'; readonly isPolled: boolean }
  | { readonly kind: 'broken'; readonly reason: string; readonly againMs: number }
  | { readonly kind: 'refused'; readonly error: ApiError };

interface TailHandlers {
  /** Receives new rows; oldest first within a frame. */
  rows(rows: readonly LogRow[]): void;
  dropped(count: number): void;
  state(state: TailState): void;
}

export interface TailStart {
  readonly startNs: bigint;
  /** Number of entries from before now. */
  readonly limit: number;
}

/** External dependencies (browser-tail.ts). Failures reject with ApiError. */
export interface TailPorts {
  /** True if the store is polled instead; known after the first check. */
  isPolled(): boolean;
  /** Rejects if the query cannot be tailed. */
  check(signal: AbortSignal): Promise<void>;
  /** Opens one connection. Resolves when it ends, with the reason, or empty if the browser has none. */
  connect(
    start: TailStart,
    onOpen: () => void,
    onFrame: (frame: TailFrame) => void,
    signal: AbortSignal,
  ): Promise<string>;
  /** Entries from a time on, oldest first. */
  poll(start: TailStart, signal: AbortSignal): Promise<readonly LogRow[]>;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  nowNs(): bigint;
}

/** Number of entries shown at first, from the last hour, like the store's default. */
const FIRST_LIMIT = 100;
const FIRST_REACH_NS = NS_PER_HOUR;
/**
 * Overlap of a new connection: entries that arrived late may be that much older than the newest one shown.
 */
const OVERLAP_NS = 30_000_000_000n;
/** Entry limit of a reconnect: more than a disconnect of seconds brings, and less than any store refuses. */
const AGAIN_LIMIT = 1000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
const POLL_MS = 2000;

/** Resolves when the signal aborts or the tail is refused; never rejects. */
export async function followTail(
  ports: TailPorts,
  handlers: TailHandlers,
  signal: AbortSignal,
): Promise<void> {
  const shown = createShown();
  let pauseMs = FIRST_PAUSE_MS;
  const onOpen = (isPolled: boolean) => {
    pauseMs = FIRST_PAUSE_MS;
    handlers.state({ kind: 'live', isPolled });
  };
  while (!signal.aborted) {
    let reason: string;
    handlers.state({ kind: 'connecting' });
    try {
      await ports.check(signal);
      reason = ports.isPolled()
        ? await pollOn(ports, shown, handlers, () => onOpen(true), signal)
        : await ports.connect(
            nextStart(shown, ports),
            () => onOpen(false),
            frame => take(frame, shown, handlers),
            signal,
          );
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      if (!(error instanceof ApiError) || isRefusal(error)) {
        handlers.state({
          kind: 'refused',
          error: error instanceof ApiError ? error : new ApiError(String(error), 0),
        });
        return;
      }
      reason = error.message;
    }
    if (signal.aborted) return;
    if (isFinal(reason)) {
      const { message, status } = refusalOf(reason);
      handlers.state({ kind: 'refused', error: new ApiError(message, status) });
      return;
    }
    if (!isOrdinary(reason)) {
      handlers.state({ kind: 'broken', reason: reason || 'connection lost', againMs: pauseMs });
    }
    try {
      await ports.sleep(pauseMs, signal);
    } catch {
      return;
    }
    pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
  }
}

/** False for a store that is busy, stopping, or not responding: a later attempt may succeed. */
function isRefusal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function take({ rows, dropped }: TailFrame, shown: ShownRows, handlers: TailHandlers): void {
  const fresh = shown.fresh(rows);
  if (fresh.length > 0) handlers.rows(fresh);
  if (dropped > 0) handlers.dropped(dropped);
}

function nextStart({ newestNs }: ShownRows, { nowNs }: TailPorts): TailStart {
  return newestNs === undefined
    ? { startNs: nowNs() - FIRST_REACH_NS, limit: FIRST_LIMIT }
    : { startNs: newestNs - OVERLAP_NS, limit: AGAIN_LIMIT };
}

/** Polls until `poll` rejects. */
async function pollOn(
  ports: TailPorts,
  shown: ShownRows,
  handlers: TailHandlers,
  onOpen: () => void,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    const rows = await ports.poll(nextStart(shown, ports), signal);
    onOpen();
    take({ rows, dropped: 0, error: undefined }, shown, handlers);
    await ports.sleep(POLL_MS, signal);
  }
  return '';
}
