/** A client of live tails, as `ws` has it: collects frames, and can stop reading. */
import WebSocket from 'ws';
import type { TestStore } from './store.ts';

interface Frame {
  readonly streams: readonly {
    readonly stream: Record<string, string>;
    readonly values: readonly (readonly [string, string, unknown?])[];
  }[];
  readonly dropped_entries?: readonly {
    readonly timestamp: string;
    readonly labels?: Record<string, string>;
  }[];
  readonly encodingFlags?: readonly string[];
}

interface TailOptions {
  readonly tenant?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface TailClient {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly texts: string[];
  /** Lines of all frames, in the order of arrival. */
  lines(): string[];
  /** Resolves when this number of lines has arrived; rejects if the connection ends before. */
  atLeast(count: number): Promise<string[]>;
  /** Resolves when the condition holds after some frame. */
  until(holds: () => boolean): Promise<void>;
  readonly closed: Promise<Closed>;
  close(): Promise<void>;
}

/** Resolves when the connection is open. */
export async function openTail(
  store: Pick<TestStore, 'url'>,
  params: Readonly<Record<string, string>>,
  { tenant = 'acme', path = '/loki/api/v1/tail', headers = {} }: TailOptions = {},
): Promise<TailClient> {
  const url = `${store.url.replace('http', 'ws')}${path}?${new URLSearchParams(params)}`;
  const socket = new WebSocket(url, { headers: { 'x-scope-orgid': tenant, ...headers } });
  const frames: Frame[] = [];
  const texts: string[] = [];
  const lines: string[] = [];
  let waiters: { holds: () => boolean; resolve: () => void; reject: (error: Error) => void }[] = [];
  socket.on('message', data => {
    const text = (data as Buffer).toString();
    const frame = JSON.parse(text) as Frame;
    texts.push(text);
    frames.push(frame);
    for (const { values } of frame.streams)
      if (values !== undefined) for (const [, line] of values) lines.push(line);
    const ready = waiters.filter(({ holds }) => holds());
    waiters = waiters.filter(waiter => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  });
  const closed = new Promise<Closed>(resolve => {
    socket.once('close', (code, reason) => {
      const end = { code, reason: reason.toString() };
      for (const { reject } of waiters) reject(new Error(`closed: ${code} ${end.reason}`));
      resolve(end);
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const until = (holds: () => boolean): Promise<void> =>
    holds() ? Promise.resolve() : new Promise((resolve, reject) => waiters.push({ holds, resolve, reject }));
  return {
    socket,
    frames,
    texts,
    lines: () => lines.slice(),
    until,
    atLeast: async count => {
      await until(() => lines.length >= count);
      return lines.slice();
    },
    closed,
    close: async () => {
      socket.close();
      await closed;
    },
  };
}

/** The answer to a request for a tail that is refused by HTTP. */
export function refusedTail(
  store: Pick<TestStore, 'url'>,
  params: Readonly<Record<string, string>>,
  { path = '/loki/api/v1/tail', headers = {} }: Omit<TailOptions, 'tenant'> = {},
): Promise<{ status: number; text: string }> {
  const url = `${store.url.replace('http', 'ws')}${path}?${new URLSearchParams(params)}`;
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (_, incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode!, text: Buffer.concat(parts).toString() }),
      );
    });
    socket.once('open', () => reject(new Error('the tail was opened')));
    socket.once('error', reject);
  });
}
