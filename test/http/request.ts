/** Request as an adapter would build it; omitted fields have defaults. */
import type { HttpRequest, RequestTenants } from '../../shared/server/http/message.ts';

/** Tenants as the guard resolves them. */
export function tenants(...ids: readonly string[]): RequestTenants {
  return { kind: 'resolved', ids, key: ids.join('|') };
}

export function request(given: Partial<HttpRequest> & { form?: string } = {}): HttpRequest {
  const form: Partial<HttpRequest> =
    given.form === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: Buffer.from(given.form),
        };
  return {
    method: 'GET',
    path: '/',
    rawQuery: '',
    headers: {},
    body: new Uint8Array(0),
    signal: new AbortController().signal,
    id: 'test-1',
    ...form,
    ...given,
  };
}

/** Message of the error that `act` throws. */
export function messageThrown(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}
