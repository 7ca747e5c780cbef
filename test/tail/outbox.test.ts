import { expect, test } from '@jest/globals';
import { labelsOf } from '../../shared/base/model/labels.ts';
import type { Connections, PostOutcome } from '../../shared/base/ports/connections.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import {
  MAX_DROPPED_ENTRIES,
  MAX_FRAME_ENTRIES,
  MAX_QUEUED_ENTRIES,
  PATIENCE_MS,
} from '../../shared/read/tail/bounds.ts';
import { Outbox } from '../../shared/read/tail/outbox.ts';
import { SharedFrames } from '../../shared/read/tail/shared-frames.ts';
import { type TailEntry, tailEntry } from '../../shared/read/tail/tail-entry.ts';

const LIMITS = { targetBytes: 100_000, maxBytes: 200_000 };
const LABELS = labelsOf({ app: 'a' });

function entries(from: number, to: number): TailEntry[] {
  return Array.from({ length: to - from }, (_, i) =>
    tailEntry({ timeNs: BigInt(from + i), line: `${from + i}`, labels: LABELS }, 'plain', ''),
  );
}

interface Frame {
  readonly streams: readonly { readonly values: readonly [string, string][] }[];
  readonly dropped_entries?: readonly {
    readonly timestamp: string;
    readonly labels: Record<string, string>;
  }[];
}

function setUp({
  delayMs = 0,
  limits = LIMITS,
  connections,
}: {
  delayMs?: number;
  limits?: typeof LIMITS;
  connections?: Partial<Connections>;
} = {}) {
  const clock = virtualClock();
  const memory = memoryConnections({ clock });
  const connection = memory.open('c');
  const ends: unknown[] = [];
  const outbox = new Outbox({
    connectionId: 'c',
    connections: { ...memory, ...connections },
    clock,
    limits,
    style: { form: 'current', flags: [] },
    shared: new SharedFrames(),
    delayMs,
    onGone: error => ends.push(error),
  });
  const frames = (): Frame[] => connection.messages.map(text => JSON.parse(text) as Frame);
  const shown = () => frames().flatMap(({ streams }) => streams.map(({ values }) => Number(values[0][1])));
  const dropped = () =>
    frames().flatMap(({ dropped_entries = [] }) => dropped_entries.map(one => Number(one.timestamp)));
  return { clock, memory, connection, outbox, ends, frames, shown, dropped };
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

test('sends the lookback first, then entries of the meantime, in frames of a hundred', async () => {
  const { clock, outbox, shown, frames } = setUp();
  outbox.offer(entries(300, 310));
  await clock.advance(10);
  expect(shown()).toEqual([]);
  const posted = outbox.begin(entries(0, 250));
  await clock.run(posted);
  await clock.run(outbox.drained());
  expect(shown()).toEqual([...numbers(0, 250), ...numbers(300, 310)]);
  expect(frames().map(({ streams }) => streams.length)).toEqual([
    MAX_FRAME_ENTRIES,
    MAX_FRAME_ENTRIES,
    50,
    10,
  ]);
});

test('a client that reads nothing costs a full queue, and gets a report of all missed entries, up to a bound', async () => {
  const { clock, connection, outbox, shown, dropped, frames } = setUp();
  await outbox.begin([]);
  let open = (): void => undefined;
  connection.gate = new Promise(resolve => (open = resolve));
  const all = MAX_QUEUED_ENTRIES + MAX_DROPPED_ENTRIES + 500;
  // The first hundred are on their way.
  outbox.offer(entries(0, MAX_FRAME_ENTRIES));
  await clock.advance(1);
  outbox.offer(entries(MAX_FRAME_ENTRIES, all));
  open();
  await clock.run(outbox.drained());
  const kept = MAX_FRAME_ENTRIES + MAX_QUEUED_ENTRIES;
  expect(shown()).toEqual(numbers(0, kept));
  expect(dropped()).toEqual(numbers(kept, kept + MAX_DROPPED_ENTRIES));
  expect(frames().find(({ dropped_entries }) => dropped_entries)?.dropped_entries?.[0].labels).toEqual({
    app: 'a',
  });
  expect(outbox.figures.dropped).toBe(all - kept);
  outbox.offer(entries(all, all + 1));
  await clock.run(outbox.drained());
  expect(shown().at(-1)).toBe(all);
});

test('a burst waits for a client for a while, once, until it has caught up', async () => {
  const { clock, connection, outbox } = setUp();
  await outbox.begin([]);
  await outbox.caughtUp();
  let open = (): void => undefined;
  connection.gate = new Promise(resolve => (open = resolve));
  outbox.offer(entries(0, MAX_QUEUED_ENTRIES));
  const startMs = clock.nowMs();
  await clock.run(outbox.caughtUp());
  expect(clock.nowMs() - startMs).toBe(PATIENCE_MS);
  outbox.offer(entries(2000, 2000 + MAX_QUEUED_ENTRIES));
  await outbox.caughtUp();
  expect(clock.nowMs() - startMs).toBe(PATIENCE_MS);
  open();
  connection.gate = undefined;
  await clock.run(outbox.drained());
  await outbox.caughtUp();
  outbox.offer(entries(4000, 4000 + MAX_QUEUED_ENTRIES));
  // It takes, so nothing waits for the end of the patience.
  await clock.run(outbox.caughtUp());
  expect(clock.nowMs() - startMs).toBe(PATIENCE_MS);
});

test('delayed entries are held until they are old enough, and no longer than the delay', async () => {
  const { clock, outbox, shown } = setUp({ delayMs: 3000 });
  await outbox.begin([]);
  const at = (ms: number, line: string) =>
    tailEntry({ timeNs: BigInt(ms) * 1_000_000n, line, labels: LABELS }, 'plain', '');
  const nowMs = clock.nowMs();
  outbox.offer([at(nowMs - 10_000, '0'), at(nowMs, '2'), at(nowMs + 60_000, '3')]);
  outbox.offer([at(nowMs - 1, '1')]);
  await clock.advance(1);
  expect(shown()).toEqual([0]);
  await clock.advance(2990);
  expect(shown()).toEqual([0]);
  await clock.advance(20);
  expect(shown()).toEqual([0, 1, 2, 3]);
});

test('delayed entries of the same millisecond are shown in order, whichever arrives first', async () => {
  const { clock, outbox, shown } = setUp({ delayMs: 3000 });
  await outbox.begin([]);
  const nowNs = BigInt(clock.nowMs()) * 1_000_000n;
  const later = (ns: bigint, line: string) =>
    tailEntry({ timeNs: nowNs + ns, line, labels: LABELS }, 'plain', '');
  outbox.offer([later(2n, '2')]);
  await clock.advance(5);
  outbox.offer([later(1n, '1')]);
  for (let ms = 0; ms < 3010; ms++) await clock.advance(1);
  expect(shown()).toEqual([1, 2]);
});

test('reports a line that fits no message as dropped', async () => {
  const { clock, outbox, shown, dropped } = setUp({ limits: { targetBytes: 4096, maxBytes: 4096 } });
  const large = tailEntry({ timeNs: 1n, line: 'x'.repeat(4096), labels: LABELS }, 'plain', '');
  await clock.run(outbox.begin([large]));
  outbox.offer([large, ...entries(2, 4)]);
  await clock.run(outbox.drained());
  expect([shown(), dropped()]).toEqual([
    [2, 3],
    [1, 1],
  ]);
});

test('reports entries refused for load as dropped; repeats nothing after an unknown outcome', async () => {
  const outcomes: (() => PostOutcome)[] = [
    () => {
      throw new ThrottledError('too many');
    },
    () => 'ok',
    () => {
      throw new Error('no answer');
    },
  ];
  const posts: string[] = [];
  const { clock, outbox, ends } = setUp({
    connections: {
      post: async (_, message) => {
        posts.push(Buffer.from(message).toString());
        return outcomes[posts.length - 1]();
      },
    },
  });
  await outbox.begin([]);
  outbox.offer(entries(1, 2));
  await clock.run(outbox.drained());
  outbox.offer(entries(2, 3));
  await clock.run(outbox.drained());
  expect(posts.map(text => text.replace(/.*"values":\[\["(\d+)".*/, 'entry $1'))).toEqual([
    'entry 1',
    '{"streams":[],"dropped_entries":[{"timestamp":"1","labels":{"app":"a"}}]}',
    'entry 2',
  ]);
  expect(ends).toEqual([new Error('no answer')]);
  expect(outbox.isClosed).toBe(true);
});

test('reports a closed connection once, and sends it nothing more', async () => {
  const { clock, memory, outbox, ends } = setUp();
  memory.leave('c');
  await clock.run(outbox.begin(entries(0, 500)));
  outbox.offer(entries(1, 2));
  await clock.run(outbox.drained());
  expect(ends).toEqual([undefined]);
});
