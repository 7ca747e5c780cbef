/**
 * Client for a live tail that reconnects. A new connection starts slightly before the newest entry, and
 * entries already shown are removed. A disconnect loses only entries older than the overlap or beyond the
 * limit.
 */
import WebSocket from 'ws';
import { messageOf } from '../../shared/base/model/errors.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { CommandError } from './command-error.ts';
import { entriesText } from './count-text.ts';
import type { PrintedEntry } from './range-query.ts';
import {
  agentOf,
  endpoint,
  type StoreFlags,
  storeHeaders,
  UnreachableError,
  unreachable,
} from './store-client.ts';

interface TailSubscription {
  readonly query: string;
  readonly startNs: bigint;
  readonly limit: number;
  readonly delaySeconds: number;
}

interface TailHandlers {
  /** Handles the entries of a frame, oldest first. The next frame waits for it. */
  entries(entries: readonly PrintedEntry[]): Promise<void>;
  /** Reports an event to the user. */
  note(text: string): void;
  /** Called for an entry that the same connection has sent before. */
  repeated?(entry: PrintedEntry): void;
}

/**
 * Overlap of a new connection: entries that arrived late during a disconnect may be that much older than the
 * newest one shown.
 */
const OVERLAP_NS = 30_000_000_000n;
/** Entry limit of a reconnect: more than a disconnect of seconds brings, and less than any store refuses. */
const AGAIN_LIMIT = 1000;
/** Maximum number of entries remembered as shown. If the overlap has more, the oldest may be shown again. */
const REMEMBERED = 20_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 30_000;
/** Maximum frame size: 100 entries of 256 KiB, escaped. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const TAIL_PATH = '/loki/api/v1/tail';
/** Errors that a reconnect cannot fix (docs/dev/wire-format.md#after-the-upgrade). */
const FINAL = /^only log selector is supported|Code\(4\d\d\)(?!.*max concurrent tail requests)/;
const MAX_DURATION = 'reached tail max duration limit';

interface WireFrame {
  readonly streams?: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [string, string])[];
  }[];
  readonly dropped_entries?: readonly unknown[] | null;
  /** Reason of a close as API Gateway sends it. */
  readonly error?: string;
}

/**
 * Follows until the signal aborts. Throws CommandError if the store refuses the tail or was never reached.
 */
export async function followTail(
  store: StoreFlags,
  subscription: TailSubscription,
  handlers: TailHandlers,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const shown = new ShownEntries();
  let pauseMs = FIRST_PAUSE_MS;
  let wasOpen = false;
  while (!signal.aborted) {
    const again = shown.newestNs;
    const next =
      again === undefined
        ? subscription
        : { ...subscription, startNs: again - OVERLAP_NS, limit: Math.max(subscription.limit, AGAIN_LIMIT) };
    let reason: string;
    try {
      const ofConnection = new ShownEntries();
      reason = await follow(
        store,
        next,
        signal,
        async entries => {
          wasOpen = true;
          pauseMs = FIRST_PAUSE_MS;
          if (handlers.repeated) {
            for (const entry of entries) if (!ofConnection.add(entry)) handlers.repeated(entry);
          }
          const fresh = entries.filter(entry => shown.add(entry));
          if (fresh.length > 0) await handlers.entries(fresh);
        },
        handlers,
      );
      wasOpen = true;
    } catch (error) {
      if (!(error instanceof UnreachableError) || !wasOpen) throw error;
      reason = error.message;
    }
    if (signal.aborted) return;
    if (FINAL.test(reason)) throw new CommandError(`refused by the store: ${reason}`);
    // The tail reached its maximum duration; clients are expected to reconnect at once.
    if (reason === MAX_DURATION) continue;
    handlers.note(`connection closed (${reason}); retrying in ${pauseMs / 1000} s`);
    await clock.sleep(pauseMs, signal).catch(() => undefined);
    pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
  }
}

/**
 * Follows one connection and resolves to the reason why it ended. Throws UnreachableError, or CommandError if
 * it was refused.
 */
async function follow(
  store: StoreFlags,
  subscription: TailSubscription,
  signal: AbortSignal,
  onEntries: (entries: readonly PrintedEntry[]) => Promise<void>,
  handlers: TailHandlers,
): Promise<string> {
  const url = endpoint(store, TAIL_PATH);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = new URLSearchParams({
    query: subscription.query,
    start: `${subscription.startNs}`,
    limit: `${subscription.limit}`,
    delay_for: `${subscription.delaySeconds}`,
  }).toString();
  const socket = new WebSocket(url, {
    headers: storeHeaders(store),
    agent: await agentOf(store),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    let frameError: string | undefined;
    let printing = Promise.resolve();
    const stop = (): void => socket.close();
    signal.addEventListener('abort', stop, { once: true });
    socket.on('unexpected-response', (_, incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => {
        const text = Buffer.concat(parts).toString().trim();
        const message = `${incoming.statusCode} ${incoming.statusMessage}${text === '' ? '' : `: ${text}`}`;
        const isLater = incoming.statusCode === 503 || incoming.statusCode === 429;
        failure = isLater
          ? new UnreachableError(message)
          : new CommandError(`the store refused the tail: ${message}`);
        socket.terminate();
        reject(failure);
      });
    });
    socket.on('message', data => {
      let frame: WireFrame;
      try {
        frame = JSON.parse((data as Buffer).toString()) as WireFrame;
      } catch {
        handlers.note('skipped a frame that is not JSON');
        return;
      }
      frameError ??= frame.error;
      const dropped = frame.dropped_entries?.length ?? 0;
      if (dropped > 0) handlers.note(`dropped ${entriesText(dropped)} because this reader was too slow`);
      // Pauses for a slow reader, so that the store waits and drops instead of filling memory here.
      socket.pause();
      printing = printing
        .then(() => onEntries(entriesOf(frame)))
        .then(
          () => socket.resume(),
          (error: unknown) => {
            failure = error instanceof Error ? error : new Error(messageOf(error));
            socket.terminate();
          },
        );
    });
    socket.on('error', error => {
      failure ??= new UnreachableError(unreachable(store, messageOf(error)), { cause: error });
    });
    socket.once('close', (code, reason) => {
      signal.removeEventListener('abort', stop);
      printing.finally(() => {
        if (failure !== undefined) reject(failure);
        else resolve(frameError ?? (reason.toString() || `code ${code}`));
      });
    });
  });
}

function entriesOf({ streams = [] }: WireFrame): PrintedEntry[] {
  return streams.flatMap(({ stream, values }) =>
    values.map(([ns, line]): PrintedEntry => ({ timeNs: BigInt(ns), labels: stream, line })),
  );
}

/** Recently shown entries, so that none is shown twice. */
class ShownEntries {
  newestNs: bigint | undefined;
  readonly #keys = new Set<string>();

  /** False if the entry was shown before. */
  add(entry: PrintedEntry): boolean {
    const key = JSON.stringify([`${entry.timeNs}`, Object.entries(entry.labels).sort(), entry.line]);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    if (this.newestNs === undefined || entry.timeNs > this.newestNs) this.newestNs = entry.timeNs;
    if (this.#keys.size > REMEMBERED) {
      const [oldest] = this.#keys;
      this.#keys.delete(oldest);
    }
    return true;
  }
}
