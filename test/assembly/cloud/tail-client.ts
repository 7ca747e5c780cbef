/** A client of live tails, as far as a test needs one: the lines that came, in order. */
import WebSocket from 'ws';

interface TailClient {
  readonly received: readonly string[];
  /** Resolves to all lines when their number is reached; rejects after some seconds. */
  lines(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface TailWish {
  readonly tenant: string;
  readonly query: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ticket?: string;
}

const PATIENCE_MS = 20_000;

/** `entries` on the oldest of the paths. */
interface Frame {
  readonly streams:
    | readonly {
        readonly values?: readonly (readonly [string, string])[];
        readonly entries?: readonly { readonly line: string }[];
      }[]
    | null;
}

/** @param url without parameters. Rejects with the status where the upgrade is refused. */
export async function connectTail(
  url: string,
  { tenant, query, headers = {}, ticket }: TailWish,
): Promise<TailClient> {
  const parameters = new URLSearchParams({ query, ...(ticket === undefined ? {} : { ticket }) });
  const socket = new WebSocket(`${url}?${parameters}`, {
    headers: { 'x-scope-orgid': tenant, ...headers },
  });
  const received: string[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', data => {
    const { streams } = JSON.parse(data.toString()) as Frame;
    for (const { values = [], entries = [] } of streams ?? []) {
      received.push(...values.map(([, line]) => line), ...entries.map(({ line }) => line));
    }
    for (const look of waiting) look();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`refused: ${statusCode}`)));
    socket.once('error', reject);
  });
  return {
    received,
    lines: count =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${received.length} lines of ${count} came`)),
          PATIENCE_MS,
        );
        const look = () => {
          if (received.length < count) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(received);
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise(resolve => {
        socket.once('close', () => resolve());
        socket.close();
      }),
  };
}
