/** HTTP client over fetch. */
import { type HttpClient, MAX_ANSWER_BYTES } from '../ports/http-client.ts';

export const FETCH_CLIENT: HttpClient = {
  async post({ url, headers, body, timeoutMs, signal }) {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: Buffer.from(body),
      // The configuration decides which hosts receive alerts; a redirect could change that.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    return { status: answer.status, text: await firstBytes(answer) };
  },
};

async function firstBytes({ body }: Response): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString();
}
