/** Gateway of the store that answers all requests with `work`. */
import { Server } from 'node:net';
import { startGateway } from '../../local/gateway.ts';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import { jsonText } from '../../shared/server/http/respond.ts';

/** Resolves to the port. @param work processes the body of a request */
export async function listen(
  work: (body: Uint8Array) => Promise<number>,
  { reusesPort = false } = {},
): Promise<number> {
  if (reusesPort) reusePorts();
  const { port } = await startGateway({
    host: '127.0.0.1',
    port: 0,
    dispatch: async ({ body }) => jsonText(`${await work(body)}`),
    limits: {
      ofRequest: () => ({ cost: 'push', maxBodyBytes: 10_000_000 }),
      maxConcurrentRequests: 100,
      maxBufferedBodyBytes: 256_000_000,
      readTimeoutMs: MS_PER_MINUTE,
      writeTimeoutMs: MS_PER_MINUTE,
      idleTimeoutMs: MS_PER_MINUTE,
      drainTimeoutMs: MS_PER_MINUTE,
    },
    log: createLog('silent'),
  });
  return port;
}

/** The gateway has no option for port reuse, because the store does not use it. */
function reusePorts(): void {
  const { listen: original } = Server.prototype;
  Server.prototype.listen = function (this: Server, options: object, ...more: unknown[]) {
    return Reflect.apply(original, this, [{ ...options, reusePort: true }, ...more]) as Server;
  } as typeof original;
}
