/** The live tail without a browser: connections that end, come again and repeat; buffers and their bounds. */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_SECOND as S } from '../../shared/base/model/time-units.ts';
import { ApiError } from '../../ui/src/api/errors.ts';
import type { LogRow } from '../../ui/src/lines/rows.ts';
import { followTail, type TailPorts, type TailStart } from '../../ui/src/tail/follow-tail.ts';
import { createShown } from '../../ui/src/tail/shown.ts';
import {
  cleared,
  EMPTY_BUFFER,
  MAX_KEPT_ROWS,
  MAX_WAITING_ROWS,
  resumed,
  withDropped,
  withRows,
} from '../../ui/src/tail/tail-buffer.ts';
import { isFinal, isOrdinary, readFrame, refusalOf } from '../../ui/src/tail/tail-frame.ts';

const NOW_NS = 1_800_000_000_000_000_000n;

function row(ns: bigint, line: string): LogRow {
  const text = `${ns}`;
  const stream = { app: 'a' };
  return {
    key: '',
    ns: text,
    ms: Number(ns / 1_000_000n),
    line,
    stream,
    metadata: {},
    parsed: {},
    level: 'info',
  };
}

interface Connection {
  readonly rows?: readonly LogRow[];
  readonly dropped?: number;
  /** Why it ends. */
  readonly reason?: string;
  readonly error?: Error;
}

/** Follows through `connections`, and ends when there are no more. */
async function follow(connections: readonly Connection[], ports: Partial<TailPorts> = {}) {
  const controller = new AbortController();
  const starts: TailStart[] = [];
  const lines: string[] = [];
  const states: string[] = [];
  let dropped = 0;
  const next = (start: TailStart): Connection => {
    starts.push(start);
    const connection = connections[starts.length - 1];
    if (connection === undefined) controller.abort();
    return connection ?? {};
  };
  await followTail(
    {
      isPolled: () => false,
      check: async () => {},
      async connect(start, onOpen, onFrame) {
        const { rows = [], reason = '', error, dropped: lost = 0 } = next(start);
        if (error !== undefined) throw error;
        onOpen();
        onFrame({ rows, dropped: lost, error: undefined });
        return reason;
      },
      async poll(start) {
        const { rows = [], error } = next(start);
        if (error !== undefined) throw error;
        return rows;
      },
      sleep: async () => {},
      nowNs: () => NOW_NS,
      ...ports,
    },
    {
      rows: rows => lines.push(...rows.map(({ line }) => line)),
      dropped: count => {
        dropped += count;
      },
      state: state => {
        if (state.kind === 'broken') states.push(`${state.reason}, ${state.againMs}`);
        else if (state.kind === 'refused') states.push(`${state.error.status} ${state.error.message}`);
        else states.push(state.kind);
      },
    },
    controller.signal,
  );
  return { starts, lines, states: states.filter(state => state !== 'connecting'), dropped };
}

describe('a tail', () => {
  test('begins an hour back, later half a minute before the newest line, and omits shown lines', async () => {
    const [a, b, c] = [row(NOW_NS, 'a'), row(NOW_NS + S, 'b'), row(NOW_NS + 2n * S, 'c')];
    const { starts, lines, states, dropped } = await follow([
      { rows: [b, a], reason: 'the server is shutting down' },
      { rows: [a, b, c], dropped: 4 },
    ]);
    expect(lines).toEqual(['b', 'a', 'c']);
    expect(dropped).toBe(4);
    expect(starts.map(({ startNs, limit }) => [startNs - NOW_NS, limit])).toEqual([
      [-3600n * S, 100],
      [-29n * S, 1000],
      [-28n * S, 1000],
    ]);
    expect(states).toEqual([
      'live',
      'the server is shutting down, 500',
      'live',
      'connection lost, 500',
      'live',
    ]);
  });

  test('waits longer each time that the store does not answer', async () => {
    const error = new ApiError('the store does not answer', 0);
    const { states } = await follow([{ error }, { error }, { error }, {}]);
    expect(states.slice(0, 4)).toEqual([
      'the store does not answer, 500',
      'the store does not answer, 1000',
      'the store does not answer, 2000',
      'live',
    ]);
  });

  test.each([
    ['reached tail max duration limit', ['live', 'live']],
    ['the tail fell behind what was pushed; connect again', ['live', 'live']],
    ['only log selector is supported', ['live', '400 only log selector is supported']],
    ['rpc error: code = Code(400) desc = too many', ['live', '400 too many']],
    [
      'rpc error: code = Code(500) desc = broken',
      ['live', 'rpc error: code = Code(500) desc = broken, 500', 'live'],
    ],
  ])('goes through the states that follow an end with “%s”', async (reason, wanted) => {
    const { states } = await follow([{ reason }]);
    expect(states).toEqual(wanted);
  });

  test.each([
    [new ApiError('parse error', 400), ['400 parse error']],
    [new ApiError('no org id', 401), ['401 no org id']],
    [new ApiError('too many requests', 429), ['too many requests, 500', 'live']],
    [new ApiError('overloaded', 503), ['overloaded, 500', 'live']],
    [new TypeError('a defect'), ['0 TypeError: a defect']],
  ])('goes through the states that follow a failed check: %s', async (problem, wanted) => {
    let checks = 0;
    const check = async () => {
      if (checks++ === 0) throw problem;
    };
    const { states } = await follow([], { check });
    expect(states).toEqual(wanted);
  });

  test('a polled tail requests from before the newest line, until it ends', async () => {
    const [a, b] = [row(NOW_NS, 'a'), row(NOW_NS + S, 'b')];
    const { lines, starts } = await follow([{ rows: [a] }, { rows: [a, b] }], { isPolled: () => true });
    expect(lines).toEqual(['a', 'b']);
    expect(starts.map(({ startNs }) => startNs - NOW_NS)).toEqual([-3600n * S, -30n * S, -29n * S]);
  });
});

describe('remembered lines', () => {
  test('is bounded, the oldest go', () => {
    const shown = createShown(2);
    const [a, b, c] = ['a', 'b', 'c'].map(line => row(NOW_NS, line));
    expect(shown.fresh([a, b, a, c])).toEqual([a, b, c]);
    expect(shown.fresh([b, c])).toEqual([]);
    expect(shown.fresh([a])).toEqual([a]);
    expect(shown.newestNs).toBe(NOW_NS);
  });
});

describe('the lines that are held', () => {
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => row(NOW_NS, `${from + i}`));

  test('are the last ones, each with a unique key', () => {
    const first = withRows(EMPTY_BUFFER, lines(0, 3), false);
    const full = withRows(first, lines(3, MAX_KEPT_ROWS), false);
    expect(full.rows).toHaveLength(MAX_KEPT_ROWS);
    expect(full).toMatchObject({ trimmed: 3, received: MAX_KEPT_ROWS + 3 });
    expect(full.rows[0]).toMatchObject({ line: '3', key: '3' });
    expect(new Set(full.rows.map(({ key }) => key)).size).toBe(MAX_KEPT_ROWS);
  });

  test('wait while it is paused, up to the limit', () => {
    const shown = withRows(EMPTY_BUFFER, lines(0, 2), false);
    const waits = withRows(withRows(shown, lines(2, 10), true), lines(12, MAX_WAITING_ROWS), true);
    expect(waits.rows).toHaveLength(2);
    expect(waits.waiting).toHaveLength(MAX_WAITING_ROWS);
    expect(waits.lostWaiting).toBe(10);
    const on = resumed(waits);
    expect(on).toMatchObject({ lostWaiting: 0, waiting: [], trimmed: 2 });
    expect(on.rows.at(-1)?.line).toBe(`${MAX_WAITING_ROWS + 11}`);
  });

  test('go when it is cleared, and so do the notices; keys count on', () => {
    const some = withDropped(withRows(EMPTY_BUFFER, lines(0, 2), false), 7);
    expect(some.dropped).toBe(7);
    const empty = cleared(some);
    expect(empty).toEqual({ ...EMPTY_BUFFER, received: 2 });
    expect(withRows(empty, lines(2, 1), false).rows[0].key).toBe('2');
  });
});

describe('frames', () => {
  test('are read with dropped entries and the reason of the end', () => {
    const frame = readFrame(
      '{"streams":[{"stream":{"app":"a","detected_level":"warn"},"values":[["2000000","b"],["1000000","a"]]}],"dropped_entries":[{},{}],"error":"gone"}',
    );
    expect(frame.rows.map(({ line, level, ms }) => [line, level, ms])).toEqual([
      ['a', 'warn', 1],
      ['b', 'warn', 2],
    ]);
    expect([frame.dropped, frame.error]).toEqual([2, 'gone']);
    expect(readFrame('{"streams":null,"dropped_entries":null}')).toEqual({
      rows: [],
      dropped: 0,
      error: undefined,
    });
  });

  test.each([
    ['only log selector is supported', true, false],
    ['rpc error: code = Code(429) desc = max concurrent', true, false],
    ['rpc error: code = Code(503) desc = busy', false, false],
    ['reached tail max duration limit', false, true],
    ['', false, false],
  ])('“%s”', (reason, final, atOnce) => {
    expect([isFinal(reason), isOrdinary(reason)]).toEqual([final, atOnce]);
  });

  test('a refusal has its status', () => {
    expect(refusalOf('rpc error: code = Code(429) desc = max concurrent')).toEqual({
      message: 'max concurrent',
      status: 429,
    });
    expect(refusalOf('only log selector is supported')).toEqual({
      message: 'only log selector is supported',
      status: 400,
    });
  });
});
