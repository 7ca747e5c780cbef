/** JSON requests to the store: parameters are in the URL, or in a form if they are long. */
import { CommandError } from './command-error.ts';
import { repeatedRequest } from './repeated-request.ts';
import { endpoint, refusal, type StoreFlags, sendRequest } from './store-client.ts';

/** Maximum URL length. Proxies accept URLs of 8 KB, some only 2 KB. A longer request is sent as a form. */
const MAX_URL_CHARACTERS = 2000;
/** Timeout. Stores abort a query after 1 to 5 minutes. */
const REQUEST_TIMEOUT_MS = 600_000;

/** Text of a response with status 200. Throws CommandError with the store's message. */
export async function fetchText(store: StoreFlags, path: string, params: URLSearchParams): Promise<string> {
  const url = endpoint(store, path);
  const byUrl = new URL(`${url.href}?${params}`);
  const timeoutMs = REQUEST_TIMEOUT_MS;
  const answer = await repeatedRequest(store, () =>
    byUrl.href.length <= MAX_URL_CHARACTERS
      ? sendRequest(store, byUrl, { method: 'GET', timeoutMs })
      : sendRequest(store, url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: params.toString(),
          timeoutMs,
        }),
  );
  if (answer.status !== 200) throw new CommandError(refusal(answer));
  return answer.text;
}

/** Requests JSON and validates it with `read`, which may throw. Throws CommandError. */
export async function fetchJson<T>(
  store: StoreFlags,
  { path, params, read }: { path: string; params: URLSearchParams; read: (body: unknown) => T },
): Promise<T> {
  const body = parseAnswer(await fetchText(store, path, params));
  return understood(() => read(body));
}

export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(
      `unexpected response, not JSON; check that --addr points to a Logboom or Loki server. It begins: ${text.slice(0, 100)}`,
      {
        cause: error,
      },
    );
  }
}

/** Reports an invalid response as a failure of the store, not as a defect of this program. */
export function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `unexpected response; check that --addr points to a Logboom or Loki server: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
