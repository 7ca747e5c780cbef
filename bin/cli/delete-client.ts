/** HTTP client for delete requests: create, list, cancel, and progress. Parameters go into the URL. */
import { CommandError } from './command-error.ts';
import {
  endpoint,
  refusal,
  type SentRequest,
  type StoreFlags,
  type StoreResponse,
  sendRequest,
} from './store-client.ts';
import { nanosecondText } from './time-text.ts';

const DELETE_PATH = '/loki/api/v1/delete';
/** Logboom's own endpoint. */
const PROGRESS_PATH = '/loki/api/v1/status/deletes';
const ID_HEADER = 'x-delete-request-id';
const REQUEST_TIMEOUT_MS = 60_000;
/** Consecutive failed progress requests after which watching ends. */
const MAX_FAILURES = 5;

export interface ListedDelete {
  readonly request_id: string;
  /** Unix seconds. */
  readonly start_time: number;
  readonly end_time: number;
  readonly query: string;
  readonly status: string;
  readonly created_at: number;
}

export interface DeleteProgress {
  readonly request_id: string;
  readonly status: string;
  readonly parts: number;
  readonly parts_done: number;
  readonly bytes_done: number;
  readonly bytes_total: number;
  /** Unix seconds, or null if it has not happened yet. */
  readonly picked_up_at: number | null;
  readonly processed_at: number | null;
}

interface DeleteToMake {
  readonly query: string;
  readonly fromNs: bigint;
  /** End of the range; defaults to now. */
  readonly toNs?: bigint;
  readonly maxInterval?: string;
}

/** Creates a delete request and resolves to its ID. Throws CommandError. */
export async function makeDelete(
  store: StoreFlags,
  { query, fromNs, toNs, maxInterval }: DeleteToMake,
): Promise<string> {
  const params = new URLSearchParams({ query, start: nanosecondText(fromNs) });
  if (toNs !== undefined) params.set('end', nanosecondText(toNs));
  if (maxInterval !== undefined) params.set('max_interval', maxInterval);
  const { headers } = expectStatus(await send(store, 'POST', DELETE_PATH, params), 204);
  const id = headers.get(ID_HEADER);
  if (id === null)
    throw new CommandError(
      'the store accepted the request without returning its ID; run logboom delete list',
    );
  return id;
}

export async function listDeletes(store: StoreFlags): Promise<readonly ListedDelete[]> {
  return readList<ListedDelete>(expectStatus(await send(store, 'GET', DELETE_PATH), 200));
}

export async function cancelDelete(
  store: StoreFlags,
  { id, force }: { readonly id: string; readonly force: boolean },
): Promise<void> {
  const params = new URLSearchParams({ request_id: id });
  if (force) params.set('force', 'true');
  expectStatus(await send(store, 'DELETE', DELETE_PATH, params), 204);
}

/**
 * Polls the progress of one request until it is processed. Throws CommandError if the request does not exist
 * or the store cannot answer for a while.
 */
export async function* watchDelete(
  store: StoreFlags,
  id: string,
  wait: () => Promise<void>,
): AsyncGenerator<DeleteProgress> {
  for (let failures = 0; ; await wait()) {
    const answer = await send(store, 'GET', PROGRESS_PATH).catch((error: unknown) => {
      if (++failures === MAX_FAILURES || !(error instanceof CommandError)) throw error;
    });
    if (answer === undefined) continue;
    if (isPassing(answer) && ++failures < MAX_FAILURES) continue;
    failures = 0;
    const all = readList<DeleteProgress>(expectStatus(answer, 200));
    const progress = all.find(({ request_id }) => request_id === id);
    if (progress === undefined) {
      throw new CommandError(
        `delete request ${id} does not exist, or it was canceled; run logboom delete list`,
      );
    }
    yield progress;
    if (progress.processed_at !== null) return;
  }
}

function send(
  store: StoreFlags,
  method: SentRequest['method'],
  path: string,
  params?: URLSearchParams,
): Promise<StoreResponse> {
  const url = endpoint(store, path);
  if (params !== undefined) url.search = params.toString();
  return sendRequest(store, url, { method, timeoutMs: REQUEST_TIMEOUT_MS });
}

function isPassing({ status }: StoreResponse): boolean {
  return status === 429 || status >= 500;
}

function expectStatus(answer: StoreResponse, status: number): StoreResponse {
  if (answer.status !== status) throw new CommandError(refusal(answer));
  return answer;
}

function readList<T extends { readonly request_id: string }>({ text }: StoreResponse): readonly T[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new CommandError('unexpected response; check that --addr points to a Logboom or Loki server', {
      cause: error,
    });
  }
  // Some stores return null for an empty list.
  if (list === null) return [];
  if (!Array.isArray(list))
    throw new CommandError('unexpected response; check that --addr points to a Logboom or Loki server');
  return list as readonly T[];
}
