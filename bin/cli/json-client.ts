/** A question to the store whose answer is JSON: parameters in the URL, or as a form where they are long. */
import { CommandError } from './command-error.ts';
import { ask, endpoint, refusal, type StoreFlags } from './store-client.ts';

/** Proxies take URLs of 8 KB, the smallest of them 2; a longer request goes as a form. */
const MAX_URL_CHARACTERS = 2000;
/** Stores give up on a query after a minute or five. */
const REQUEST_TIMEOUT_MS = 600_000;

/** Text of an answer with status 200. Throws CommandError with the store's message. */
export async function askText(store: StoreFlags, path: string, params: URLSearchParams): Promise<string> {
  const url = endpoint(store, path);
  const byUrl = new URL(`${url.href}?${params}`);
  const timeoutMs = REQUEST_TIMEOUT_MS;
  const answer =
    byUrl.href.length <= MAX_URL_CHARACTERS
      ? await ask(store, byUrl, { method: 'GET', timeoutMs })
      : await ask(store, url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: params.toString(),
          timeoutMs,
        });
  if (answer.status !== 200) throw new CommandError(refusal(answer));
  return answer.text;
}

/** What is read of an answer is checked by `read`, which may throw. Throws CommandError. */
export async function askJson<T>(
  store: StoreFlags,
  { path, params, read }: { path: string; params: URLSearchParams; read: (body: unknown) => T },
): Promise<T> {
  const body = parseAnswer(await askText(store, path, params));
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

/** An answer that is not as it should be is the store's failure, and no defect here. */
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
