/**
 * Readers of live tails in a separate process, so that their cost counts for neither the store nor the
 * pushing client. Started and controlled by tail.ts, and reporting to it, by messages.
 */
import WebSocket from 'ws';

export type ReaderOrder =
  | { readonly kind: 'open'; readonly url: string; readonly tenant: string; readonly count: number }
  /** Requests a message when each tail has shown a frame that contains the text. */
  | { readonly kind: 'await'; readonly text: string }
  | { readonly kind: 'count' }
  | { readonly kind: 'close' };

export type ReaderReport =
  | { readonly kind: 'done' }
  /** Time when the last tail received it, Unix ms with fractions. */
  | { readonly kind: 'shown'; readonly atMs: number }
  /** Counts of all tails since they were opened. */
  | { readonly kind: 'counted'; readonly frames: number; readonly entries: number; readonly dropped: number };

interface TailSocket {
  readonly socket: WebSocket;
  onText: ((text: string) => void) | undefined;
}

const ENTRY = Buffer.from('"stream":');
const DROPPED = Buffer.from('"timestamp":');
let tails: TailSocket[] = [];
const counted = { frames: 0, entries: 0, dropped: 0 };

function tell(report: ReaderReport): void {
  process.send!(report);
}

function countOf(frame: Buffer, text: Buffer): number {
  let count = 0;
  for (let at = frame.indexOf(text); at !== -1; at = frame.indexOf(text, at + text.length)) count++;
  return count;
}

async function open({ url, tenant, count }: Extract<ReaderOrder, { kind: 'open' }>): Promise<void> {
  Object.assign(counted, { frames: 0, entries: 0, dropped: 0 });
  const opening = Array.from({ length: count }, async () => {
    const socket = new WebSocket(url, { headers: { 'x-scope-orgid': tenant }, perMessageDeflate: false });
    const tail: TailSocket = { socket, onText: undefined };
    socket.on('message', data => {
      const frame = data as Buffer;
      counted.frames++;
      counted.entries += countOf(frame, ENTRY);
      counted.dropped += countOf(frame, DROPPED);
      tail.onText?.(frame.toString());
    });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return tail;
  });
  tails = await Promise.all(opening);
}

async function awaitText(wanted: string): Promise<void> {
  const shown = tails.map(
    tail =>
      new Promise<void>(resolve => {
        tail.onText = text => {
          if (!text.includes(wanted)) return;
          tail.onText = undefined;
          resolve();
        };
      }),
  );
  tell({ kind: 'done' });
  await Promise.all(shown);
  tell({ kind: 'shown', atMs: performance.timeOrigin + performance.now() });
}

async function close(): Promise<void> {
  const closed = tails.map(({ socket }) => new Promise(resolve => socket.once('close', resolve)));
  for (const { socket } of tails) socket.close();
  await Promise.all(closed);
  tails = [];
}

async function obey(order: ReaderOrder): Promise<void> {
  if (order.kind === 'count') return tell({ kind: 'counted', ...counted });
  if (order.kind === 'await') return awaitText(order.text);
  if (order.kind === 'open') await open(order);
  else await close();
  tell({ kind: 'done' });
}

if (process.send !== undefined) {
  process.on('message', (order: ReaderOrder) => void obey(order));
  process.on('disconnect', () => process.exit());
}
