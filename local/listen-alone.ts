/** Ports that several threads share are not refused to a second process of the same user: this looks first. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Rejects with the error of `listen`, for example EADDRINUSE, if somebody listens there. */
export async function listenAlone(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  server.listen({ port, host: host === '' ? undefined : host });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
