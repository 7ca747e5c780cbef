/** Requests of a canary, over any HTTP client that sends them as its tenant. */
import { type CanaryBatch, canaryPush } from './batches.ts';

export interface CanaryAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request to the store as the canary's tenant. Rejects if no response arrives in time. */
export type CanarySend = (request: {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Body in JSON. */
  readonly body?: string;
}) => Promise<CanaryAnswer>;

/** The store responded with an unexpected status. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(what: string, { status, text }: CanaryAnswer) {
    super(`the ${what} got status ${status}: ${text.trim()}`);
    this.name = 'RefusedError';
    this.status = status;
  }
}

/** Resolves after the store acknowledged the batch. Throws RefusedError, and the errors of `send`. */
export async function pushBatch(
  send: CanarySend,
  batch: CanaryBatch,
  stream: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await send({
    method: 'POST',
    path: '/loki/api/v1/push',
    body: canaryPush(batch, stream),
  });
  if (answer.status !== 204) throw new RefusedError('push', answer);
}

/**
 * Lines of the entries from `startMs` (inclusive) to `endMs` (exclusive), oldest first. Throws like
 * pushBatch.
 */
export async function readLines(
  send: CanarySend,
  query: string,
  { startMs, endMs, limit }: { readonly startMs: number; readonly endMs: number; readonly limit: number },
): Promise<string[]> {
  const answer = await send({
    method: 'GET',
    path: '/loki/api/v1/query_range',
    query: {
      query,
      start: `${Math.trunc(startMs)}000000`,
      end: `${Math.trunc(endMs)}000000`,
      limit: `${limit}`,
      direction: 'forward',
    },
  });
  if (answer.status !== 200) throw new RefusedError('query', answer);
  const { data } = JSON.parse(answer.text) as {
    data: { result: readonly { readonly values: readonly (readonly [string, string])[] }[] };
  };
  return data.result.flatMap(({ values }) => values.map(([, line]) => line));
}

/** Number of entries after `fromMs` and up to `toMs` according to a metric query. Throws like pushBatch. */
export async function countEntries(
  send: CanarySend,
  selector: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<number> {
  const query = `sum(count_over_time(${selector}[${toMs - fromMs}ms]))`;
  const answer = await send({
    method: 'GET',
    path: '/loki/api/v1/query',
    query: { query, time: `${toMs}000000` },
  });
  if (answer.status !== 200) throw new RefusedError('query', answer);
  const { data } = JSON.parse(answer.text) as {
    data: { result: readonly { readonly value: readonly [number, string] }[] };
  };
  return Number(data.result[0]?.value[1] ?? 0);
}
