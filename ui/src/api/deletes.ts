/** Delete requests of the tenant, and what a new one would cover. Times are Unix milliseconds. */
import { fetchJson, fetchText } from './client.ts';
import type { DeleteRequest } from './deletes-types.ts';
import type { QueryAnswer } from './types.ts';

export type { DeleteRequest } from './deletes-types.ts';

const DELETE_PATH = '/svc/api/v1/delete';

interface ListedRequest {
  readonly request_id: string;
  readonly start_time: number;
  readonly end_time: number;
  readonly query: string;
}

interface RequestProgress {
  readonly request_id: string;
  readonly parts: number;
  readonly parts_done: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  readonly created_at: number;
  readonly picked_up_at: number | null;
  readonly sealed_at: number | null;
  readonly processed_at: number | null;
}

/** Delete requests, newest first. */
export async function fetchDeletes(signal?: AbortSignal): Promise<readonly DeleteRequest[]> {
  const [listed, progress] = await Promise.all([
    fetchJson<ListedRequest[]>(DELETE_PATH, { signal }),
    fetchJson<RequestProgress[]>('/svc/api/v1/status/deletes', { signal }),
  ]);
  const byId = new Map(progress.map(one => [one.request_id, one]));
  return listed
    .flatMap(request => {
      const known = byId.get(request.request_id);
      // The request was canceled between the two responses.
      return known === undefined ? [] : [requestOf(request, known)];
    })
    .sort((a, b) => b.createdMs - a.createdMs);
}

function requestOf(
  { request_id, start_time, end_time, query }: ListedRequest,
  progress: RequestProgress,
): DeleteRequest {
  const { parts, parts_done, bytes_done, bytes_total } = progress;
  const bytesShare = bytes_total > 0 ? bytes_done / bytes_total : 0;
  return {
    id: request_id,
    query,
    fromMs: start_time * 1000,
    toMs: end_time * 1000,
    share: progress.processed_at === null ? Math.min(1, Math.max(bytesShare, parts_done / parts)) : 1,
    bytesDone: bytes_done,
    bytesTotal: bytes_total,
    createdMs: progress.created_at * 1000,
    pickedUpMs: msOf(progress.picked_up_at),
    sealedMs: msOf(progress.sealed_at),
    processedMs: msOf(progress.processed_at),
  };
}

function msOf(seconds: number | null): number | undefined {
  return seconds === null ? undefined : seconds * 1000;
}

export interface NewDeleteRequest {
  readonly query: string;
  readonly fromMs: number;
  /** End of the range; undefined means the creation time of the request. */
  readonly toMs: number | undefined;
}

export async function createDelete({ query, fromMs, toMs }: NewDeleteRequest): Promise<void> {
  const params = { query, start: timeOf(fromMs), end: toMs === undefined ? undefined : timeOf(toMs) };
  await fetchText(DELETE_PATH, { method: 'POST', params });
}

export async function cancelDelete(id: string, { force }: { readonly force: boolean }): Promise<void> {
  await fetchText(DELETE_PATH, {
    method: 'DELETE',
    params: { request_id: id, force: force ? 'true' : undefined },
  });
}

export interface Covered {
  readonly lines: number;
  /** Bytes of the lines. */
  readonly bytes: number;
}

/**
 * Counts the lines that a query finds, both ends included. Lines hidden by an earlier request do not count.
 */
export async function fetchCovered(
  { query, fromMs, toMs }: { readonly query: string; readonly fromMs: number; readonly toMs: number },
  signal?: AbortSignal,
): Promise<Covered> {
  // A LogQL range is in whole milliseconds, excludes its start and includes its end. So this one is 1 ms
  // longer, and ends 1 ns before the next millisecond to include the first nanosecond of the range.
  const range = `[${toMs - fromMs + 1}ms]`;
  const atNs = `${BigInt(toMs) * 1_000_000n + 999_999n}`;
  // A comment at the end of the query ends at the line break.
  const [lines, bytes] = await Promise.all([
    fetchNumber(`sum(count_over_time(${query}\n${range}))`, atNs, signal),
    fetchNumber(`sum(bytes_over_time(${query}\n${range}))`, atNs, signal),
  ]);
  return { lines, bytes };
}

async function fetchNumber(query: string, atNs: string, signal?: AbortSignal): Promise<number> {
  const params = { query, time: atNs };
  const { data } = await fetchJson<QueryAnswer>('/svc/api/v1/query', { params, signal });
  return data.resultType === 'vector' ? Number(data.result[0]?.value[1] ?? 0) : 0;
}

/** RFC 3339 has milliseconds, unlike Unix seconds in the API. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
