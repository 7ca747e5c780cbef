/** Connections that send any bytes, which HTTP client libraries do not allow. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawClient {
  readonly socket: Socket;
  write(data: string | Uint8Array): void;
  /** Received bytes so far, one character for each byte. */
  received(): string;
  /**
   * Resolves to the received text once `piece` has arrived `times` times; rejects if the connection ends
   * before.
   */
  seen(piece: string, times?: number): Promise<string>;
  /** Resolves to all received bytes once the server has closed its side or reset the connection. */
  closed(): Promise<string>;
}

export interface RawOptions {
  /** Local address to connect from, such as `127.0.0.2`: Linux accepts every address of 127.0.0.0/8. */
  readonly localAddress?: string;
  /** Keeps its side open when the server ends its own. */
  readonly allowHalfOpen?: boolean;
  /** Reads nothing until `socket.resume()`. */
  readonly paused?: boolean;
}

export async function rawClient(port: number, options: RawOptions = {}): Promise<RawClient> {
  const { localAddress, allowHalfOpen = false, paused = false } = options;
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen });
  let received = '';
  let isOver = false;
  const checks = new Set<() => void>();
  const wake = () => {
    for (const check of [...checks]) check();
  };
  socket.on('error', () => {});
  for (const event of ['end', 'close']) {
    socket.on(event, () => {
      isOver = true;
      wake();
    });
  }
  await once(socket, 'connect');
  if (paused) socket.pause();
  else {
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      wake();
    });
  }
  const until = (isDone: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        if (!isDone() && !isOver) return;
        checks.delete(check);
        if (isDone()) resolve(received);
        else reject(new Error(`the connection ended before, after ${JSON.stringify(received)}`));
      };
      checks.add(check);
      check();
    });
  return {
    socket,
    write: data => void socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data),
    received: () => received,
    seen: (piece, times = 1) => until(() => received.split(piece).length > times),
    closed: () => until(() => isOver),
  };
}

/** Statuses of the responses in the received bytes, in order. */
export function statusesIn(received: string): number[] {
  return Array.from(received.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => Number(status));
}
