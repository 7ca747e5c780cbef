/**
 * Pushes a text, batch by batch, a few at a time: their timestamps say how they follow each other, so the order in which
 * they arrive does not matter. What may pass (too many requests, a store that restarts) is tried again; a retry has the
 * same timestamps, so the store keeps its lines once, even where the first try had arrived.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { CommandError } from './command-error.ts';
import { type BatchOptions, batchesOf, type PushBatch } from './push-batch.ts';
import { type Answer, ask, endpoint, refusal, type StoreFlags, UnreachableError } from './store-client.ts';

const PUSH_PATH = '/loki/api/v1/push';
/** Longer than a store that holds back its writers takes. */
const REQUEST_TIMEOUT_MS = 60_000;
/** A commit waits for the disk: four at a time were 1.8 times as fast as one after the other. */
const MAX_ON_THE_WAY = 4;

const MAX_RETRY_AFTER_MS = 60_000;

const gzipAsync = promisify(gzip);

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Wait before the second attempt; it doubles from there. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** For what goes on for ever: a line waits for the store as long as it takes. */
export const ENDLESS_RETRIES: RetryPolicy = { maxAttempts: Infinity, firstDelayMs: 250, maxDelayMs: 30_000 };

/** Half a minute in all: a store restarts in that time. */
export const PUSH_RETRIES: RetryPolicy = { maxAttempts: 9, firstDelayMs: 250, maxDelayMs: 8000 };

export interface PushTotals {
  readonly lines: number;
  /** Bytes of input. */
  readonly bytes: number;
}

/** A batch with the body of its request. */
export interface SentBatch extends Omit<PushBatch, 'values'> {
  /** JSON of a push. */
  readonly body: string;
}

/** A stream, or what can be ended as one. */
export interface PushInput extends AsyncIterable<Buffer> {
  /** Ends it, with the reason if it failed. */
  destroy(error?: Error): unknown;
}

export interface PushPlan {
  readonly store: StoreFlags;
  /** Batches of the input, which is closed when they end. */
  batches(input: AsyncIterable<Buffer>): AsyncIterable<SentBatch>;
  readonly retries: RetryPolicy;
  /** After each batch that is stored. */
  readonly onStored: (totals: PushTotals) => void;
  /** Something went wrong and is tried again: what, and when. */
  readonly onRetry: (problem: string, again: string) => void;
  /** Everything up to this byte of the input is done with; for each batch, in order. */
  readonly onDoneTo?: (endBytes: number) => void;
  /** The store says that a batch is wrong. Where this is given, the batch is left out; else it ends the push. */
  readonly onRefused?: (message: string, lines: number) => void;
  /** Ends the waiting for another try. */
  readonly signal?: AbortSignal;
}

/** Each line as an entry of one stream, with the time at which it was read. */
export async function* plainBatches(
  input: AsyncIterable<Buffer>,
  labels: Readonly<Record<string, string>>,
  options: BatchOptions,
): AsyncGenerator<SentBatch> {
  const head = `{"streams":[{"stream":${JSON.stringify(labels)},"values":[`;
  for await (const { values, ...batch } of batchesOf(input, options))
    yield { ...batch, body: `${head}${values}]}]}` };
}

/** Reads the input to its end. Throws CommandError where the store refuses a batch; the input is closed in any case. */
export async function pushLines(input: PushInput, plan: PushPlan): Promise<PushTotals> {
  let totals: PushTotals = { lines: 0, bytes: 0 };
  const sendAndCount = async (batch: SentBatch, body: Uint8Array<ArrayBuffer>) => {
    if (!(await send(batch, body, plan))) return;
    totals = { lines: totals.lines + batch.lines, bytes: Math.max(totals.bytes, batch.readBytes) };
    plan.onStored(totals);
  };
  const onTheWay: Promise<void>[] = [];
  /** Resolves when it and all before it are done with. */
  let done = Promise.resolve();
  try {
    for await (const batch of plan.batches(input)) {
      const body = await gzipAsync(batch.body, { level: constants.Z_BEST_SPEED });
      if (onTheWay.length >= MAX_ON_THE_WAY) {
        await onTheWay[0];
        onTheWay.shift();
      }
      const sending = sendAndCount(batch, new Uint8Array(body));
      onTheWay.push(sending);
      done = Promise.all([done, sending]).then(() => plan.onDoneTo?.(batch.endBytes));
      // Told where the sending is awaited.
      done.catch(() => {});
      // The next line may be far away: a failure must not wait for it.
      sending.catch(error => input.destroy(error));
    }
  } catch (error) {
    // Of several failures the first in the input tells up to where it is stored.
    for (const sending of onTheWay) await sending;
    throw error;
  } finally {
    input.destroy();
  }
  for (const sending of onTheWay) await sending;
  await done;
  return totals;
}

/** False where the batch was refused and left out. */
async function send(batch: SentBatch, body: Uint8Array<ArrayBuffer>, plan: PushPlan): Promise<boolean> {
  const { store, retries, onRetry, onRefused, signal } = plan;
  const url = endpoint(store, PUSH_PATH);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  let delayMs = retries.firstDelayMs;
  for (let attempt = 1; ; attempt++) {
    let problem: string;
    let waitMs = delayMs;
    try {
      const answer = await ask(store, url, { method: 'POST', headers, body, timeoutMs: REQUEST_TIMEOUT_MS });
      if (isStored(answer)) return true;
      problem = refusal(answer);
      waitMs = Math.max(delayMs, retryAfterMs(answer));
      if (onRefused !== undefined && isOfBatch(answer)) {
        onRefused(problem, batch.lines);
        return false;
      }
      if (!isPassing(answer)) throw new CommandError(`${placeOf(batch)} refused: ${problem}`);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      problem = error.message;
    }
    if (attempt >= retries.maxAttempts) {
      throw new CommandError(`${placeOf(batch)} not stored after ${attempt} attempts: ${problem}`);
    }
    const of = Number.isFinite(retries.maxAttempts) ? ` of ${retries.maxAttempts}` : '';
    const again = `trying again in ${waitMs / 1000} s (attempt ${attempt}${of})`;
    onRetry(problem, again);
    await delay(waitMs, undefined, { signal }).catch(() => {
      throw new CommandError(`stopped; ${placeOf(batch)} not stored: ${problem}`);
    });
    delayMs = Math.min(delayMs * 2, retries.maxDelayMs);
  }
}

/** Only these two: a store that blocks ingestion answers 260 by default, and keeps nothing. */
function isStored({ status }: Answer): boolean {
  return status === 204 || status === 200;
}

function isPassing({ status }: Answer): boolean {
  return status === 429 || status >= 500;
}

/** What the store asks to wait, within bounds: a proxy may ask for an hour. */
function retryAfterMs({ headers }: Answer): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), MAX_RETRY_AFTER_MS) : 0;
}

/** It would be refused each time: too large, too old, not allowed. A login that is missing is another matter. */
function isOfBatch({ status }: Answer): boolean {
  return status === 400 || status === 413 || status === 422;
}

function placeOf({ firstLine, lines }: SentBatch): string {
  const place = lines === 1 ? `line ${firstLine} was` : `lines ${firstLine} to ${firstLine + lines - 1} were`;
  return firstLine === 1 ? place : `lines 1 to ${firstLine - 1} are stored, ${place}`;
}
