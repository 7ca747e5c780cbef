/**
 * Pushes a text in batches, a few at a time. Timestamps define the order, so the order of arrival does not
 * matter. Transient failures (too many requests, a restarting store) are retried. A retry has the same
 * timestamps, so the store keeps its lines once, even if the first attempt arrived.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { CommandError } from './command-error.ts';
import { batchesOf, type PushBatch, type PushBatchOptions } from './push-batch.ts';
import type { RetryPolicy } from './retries.ts';
import {
  endpoint,
  refusal,
  type StoreFlags,
  type StoreResponse,
  sendRequest,
  UnreachableError,
} from './store-client.ts';

const PUSH_PATH = '/loki/api/v1/push';
/** Timeout, longer than a store delays writers under backpressure. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum concurrent batches. A commit waits for the disk: four at a time were 1.8 times as fast as one. */
const MAX_ON_THE_WAY = 4;

const MAX_RETRY_AFTER_MS = 60_000;

const gzipAsync = promisify(gzip);

/** Retries without a limit, for followed files: a line waits for the store as long as it takes. */
export const ENDLESS_RETRIES: RetryPolicy = { maxAttempts: Infinity, firstDelayMs: 250, maxDelayMs: 30_000 };

export interface PushTotals {
  readonly lines: number;
  /** Bytes of input. */
  readonly bytes: number;
}

/** Batch with its request body. */
export interface EncodedBatch extends Omit<PushBatch, 'values'> {
  /** JSON body of the push. */
  readonly body: string;
}

/** Stream, or an iterable that can be destroyed like one. */
export interface PushInput extends AsyncIterable<Buffer> {
  /** Ends the input, with the reason if it failed. */
  destroy(error?: Error): unknown;
}

export interface PushPlan {
  readonly store: StoreFlags;
  /** Splits the input into batches; closes the input at the end. */
  batches(input: AsyncIterable<Buffer>): AsyncIterable<EncodedBatch>;
  readonly retries: RetryPolicy;
  /** Called after each stored batch. */
  readonly onStored: (totals: PushTotals) => void;
  /** Called before a retry, with the problem and the time of the next attempt. */
  readonly onRetry: (problem: string, again: string) => void;
  /** Called for each batch in order: the input up to this byte is finished. */
  readonly onDoneTo?: (endBytes: number) => void;
  /**
   * Called if the store rejects a batch, which is then skipped. If absent, a rejection ends the push. `name` is a
   * text such as `lines 3 to 4 were`.
   */
  readonly onRefused?: (message: string, name: string, lines: number) => void;
  /** Ends the wait for a retry. */
  readonly signal?: AbortSignal;
}

/** Yields each line as an entry of one stream, with the time at which it was read. */
export async function* plainBatches(
  input: AsyncIterable<Buffer>,
  labels: Readonly<Record<string, string>>,
  options: PushBatchOptions,
): AsyncGenerator<EncodedBatch> {
  const head = `{"streams":[{"stream":${JSON.stringify(labels)},"values":[`;
  for await (const { values, ...batch } of batchesOf(input, options))
    yield { ...batch, body: `${head}${values}]}]}` };
}

/**
 * Pushes the input to its end and closes it in any case. Throws CommandError if the store refuses a batch.
 */
export async function pushLines(input: PushInput, plan: PushPlan): Promise<PushTotals> {
  let totals: PushTotals = { lines: 0, bytes: 0 };
  const sendAndCount = async (batch: EncodedBatch, body: Uint8Array<ArrayBuffer>) => {
    if (!(await send(batch, body, plan))) return;
    totals = { lines: totals.lines + batch.lines, bytes: Math.max(totals.bytes, batch.readBytes) };
    plan.onStored(totals);
  };
  const onTheWay: Promise<void>[] = [];
  /** Resolves when this batch and all before it are finished. */
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
      // The failure is reported where `sending` is awaited.
      done.catch(() => {});
      // The next line may come much later, and a failure must not wait for it.
      sending.catch(error => input.destroy(error));
    }
  } catch (error) {
    // The first of several failures in input order shows how far the input is stored.
    for (const sending of onTheWay) await sending;
    throw error;
  } finally {
    input.destroy();
  }
  for (const sending of onTheWay) await sending;
  await done;
  return totals;
}

/** False if the batch was refused and skipped. */
async function send(batch: EncodedBatch, body: Uint8Array<ArrayBuffer>, plan: PushPlan): Promise<boolean> {
  const { store, retries, onRetry, onRefused, signal } = plan;
  const url = endpoint(store, PUSH_PATH);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  let delayMs = retries.firstDelayMs;
  for (let attempt = 1; ; attempt++) {
    let problem: string;
    let waitMs = delayMs;
    try {
      const answer = await sendRequest(store, url, {
        method: 'POST',
        headers,
        body,
        timeoutMs: REQUEST_TIMEOUT_MS,
      });
      if (isStored(answer)) return true;
      problem = refusal(answer);
      waitMs = Math.max(delayMs, retryAfterMs(answer));
      if (onRefused !== undefined && isOfBatch(answer)) {
        onRefused(problem, linesText(batch), batch.lines);
        return false;
      }
      if (!isPassing(answer)) throw new CommandError(`${batchName(batch)} refused: ${problem}`);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      problem = error.message;
    }
    if (attempt >= retries.maxAttempts) {
      throw new CommandError(`${batchName(batch)} not stored after ${attempt} attempts: ${problem}`);
    }
    const of = Number.isFinite(retries.maxAttempts) ? ` of ${retries.maxAttempts}` : '';
    const again = `retrying in ${waitMs / 1000} s (attempt ${attempt}${of})`;
    onRetry(problem, again);
    await delay(waitMs, undefined, { signal }).catch(() => {
      throw new CommandError(`stopped; ${batchName(batch)} not stored: ${problem}`);
    });
    delayMs = Math.min(delayMs * 2, retries.maxDelayMs);
  }
}

/**
 * Accepts only these two statuses: a store that blocks ingestion answers 260 by default and stores nothing.
 */
function isStored({ status }: StoreResponse): boolean {
  return status === 204 || status === 200;
}

function isPassing({ status }: StoreResponse): boolean {
  return status === 429 || status >= 500;
}

/** Delay that the store requests, within bounds: a proxy may request an hour. */
function retryAfterMs({ headers }: StoreResponse): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), MAX_RETRY_AFTER_MS) : 0;
}

/**
 * True if every attempt would be refused: too large, too old, not allowed. A missing login is a different
 * case.
 */
function isOfBatch({ status }: StoreResponse): boolean {
  return status === 400 || status === 413 || status === 422;
}

function batchName(batch: EncodedBatch): string {
  const { firstLine } = batch;
  const name = linesText(batch);
  return firstLine === 1 ? name : `lines 1 to ${firstLine - 1} are stored, ${name}`;
}

function linesText({ firstLine, lines }: EncodedBatch): string {
  return lines === 1 ? `line ${firstLine} was` : `lines ${firstLine} to ${firstLine + lines - 1} were`;
}
