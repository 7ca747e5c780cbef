/**
 * Detects a second process on a port that several threads share. The system does not refuse it to a process
 * of the same user.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Rejects with the error of `listen`, for example EADDRINUSE, if another process listens there. */
export async function listenAlone(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  server.listen({ port, host: host === '' ? undefined : host });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
