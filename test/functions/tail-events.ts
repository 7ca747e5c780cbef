/** A push as the HTTP API gives it to its function. */
export function jsonPushEvent(tenant: string, lines: readonly string[], nowMs: number): object {
  const ns = `${nowMs}000000`;
  const stream = { app: 'a', service_name: 'a' };
  return {
    version: '2.0',
    rawPath: '/loki/api/v1/push',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    requestContext: { requestId: 'push', http: { method: 'POST' } },
    body: JSON.stringify({ streams: [{ stream, values: lines.map(line => [ns, line]) }] }),
    isBase64Encoded: false,
  };
}
