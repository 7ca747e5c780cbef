/** Posts to notification targets: adds credentials, and retries temporary failures. */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { HttpClient } from '../../base/ports/http-client.ts';
import type { ClientAuth } from '../admin/config-ruler.ts';

interface NotificationTarget {
  /** May contain a name and a password. */
  readonly url: string;
  readonly auth: ClientAuth;
  /** Timeout of one request. */
  readonly timeoutMs: number;
}

/**
 * `refused`: the target refuses it permanently. `failed`: a temporary failure, and the target may have
 * accepted it.
 */
export type SendResult =
  | { readonly end: 'taken' }
  | { readonly end: 'refused' | 'failed'; readonly reason: string };

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface SendParts {
  readonly http: HttpClient;
  readonly clock: Clock;
}

/** Waits between attempts, ms. The next evaluation retries. */
const WAITS_MS = [250, 1000];
const MAX_REASON_LENGTH = 300;
const TOO_MANY_REQUESTS = 429;

/** Never rejects. A request that the signal aborts has failed, whether it was accepted or not. */
export async function send(
  { http, clock }: SendParts,
  { url, auth, timeoutMs }: NotificationTarget,
  { headers, body }: Message,
  signal: AbortSignal,
): Promise<SendResult> {
  const target = addressOf(url, auth);
  const shown = target.url;
  for (let attempt = 0; ; attempt++) {
    const sent = await sendOnce();
    if (sent.end !== 'failed' || attempt === WAITS_MS.length || signal.aborted) return sent;
    await clock.sleep(WAITS_MS[attempt], signal).catch(() => undefined);
  }

  async function sendOnce(): Promise<SendResult> {
    try {
      signal.throwIfAborted();
      const answer = await http.post({
        url: target.url,
        headers: { 'user-agent': 'logboom', ...headers, ...target.headers },
        body,
        timeoutMs,
        signal,
      });
      const { status } = answer;
      if (status >= 200 && status < 300) return { end: 'taken' };
      const reason = `${shown}: ${status} ${answer.text}`.slice(0, MAX_REASON_LENGTH).trim();
      const isOver = status >= 500 || status === TOO_MANY_REQUESTS;
      return { end: isOver ? 'failed' : 'refused', reason };
    } catch (error) {
      return { end: 'failed', reason: `${shown}: ${reasonOf(error)}` };
    }
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
  return (messageOf(error) + cause).slice(0, MAX_REASON_LENGTH);
}

/** Moves credentials from the URL to a header. In a URL they would be refused, and visible in messages. */
function addressOf(
  given: string,
  { basic, authorization }: ClientAuth,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const url = new URL(given);
  const fromUrl =
    url.username === ''
      ? undefined
      : { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  url.username = '';
  url.password = '';
  const who = basic ?? fromUrl;
  if (who !== undefined) {
    const text = Buffer.from(`${who.username}:${who.password}`).toString('base64');
    return { url: url.href, headers: { authorization: `Basic ${text}` } };
  }
  return { url: url.href, headers: authorization === '' ? {} : { authorization } };
}
