import { describe, expect, test } from '@jest/globals';
import {
  rateSizeText,
  streamLimitError,
  streamRateError,
  tenantRateError,
} from '../../../shared/write/ingest/rates/rate-errors.ts';
import { pushOf } from '../../support/pushes.ts';

const REASON = (bytes: string) =>
  `Per stream rate limit exceeded (limit: 3MB/sec) while attempting to ingest for stream '{app="a"}' totaling ${bytes}, consider splitting a stream via additional labels or contact your Loki administrator to see if the limit can be increased`;

test('a tenant over its rate limit gets a message with limit and size', () => {
  const { status, message } = tenantRateError('acme', { limitBytes: 4194304.5, lines: 3, bytes: 7000000 });
  expect(status).toBe(429);
  expect(message).toBe(
    "ingestion rate limit exceeded for user acme (limit: 4194304 bytes/sec) while attempting to ingest '3' lines totaling '7000000' bytes, reduce log volume or contact your Loki administrator to see if the limit can be increased",
  );
});

test('too many active streams give a message with the limit', () => {
  const { status, message } = streamLimitError('acme', '{app="a"}');
  expect(status).toBe(429);
  expect(message).toBe(
    `maximum active stream limit exceeded when trying to create stream {app="a"}, reduce the number of active streams (reduce labels or reduce label values), or contact your Loki administrator to see if the limit can be increased, user: 'acme'`,
  );
});

describe('a stream over its rate limit', () => {
  const DAY = 19724; // 2024-01-02
  const at = (time: number, app = 'a', line = 'x'.repeat(1024)) => ({
    stream: { app },
    day: DAY,
    time,
    line,
    metadata: {},
  });

  test('reports each entry with its time and bytes, including metadata', () => {
    const { columns } = pushOf([
      at(11_045_000_000_006),
      at(0, 'b'),
      at(11_045_120_000_000, 'a', 'y'),
      { ...at(0, 'a', ''), metadata: { key: 'value' } },
    ]);
    const refused = {
      columns,
      entries: Uint32Array.of(0, 1, 2, 3),
      stream: 0,
      count: 3,
      limitBytes: 3145728,
    };
    const { status, message } = streamRateError('acme', refused);
    expect(status).toBe(429);
    expect(message.split('\n')).toEqual([
      `entry with timestamp 2024-01-02 03:04:05.000000006 +0000 UTC ignored, reason: '${REASON('1KB')}',`,
      `entry with timestamp 2024-01-02 03:04:05.12 +0000 UTC ignored, reason: '${REASON('1B')}',`,
      `entry with timestamp 2024-01-02 00:00:00 +0000 UTC ignored, reason: '${REASON('8B')}',`,
      `user 'acme', total ignored: 3 out of 3 for stream: {app="a"}`,
    ]);
  });

  test('reports at most ten entries', () => {
    const { columns } = pushOf(Array.from({ length: 25 }, (_, i) => at(i)));
    const entries = Uint32Array.from({ length: 25 }, (_, i) => i);
    const { message } = streamRateError('acme', {
      columns,
      entries,
      stream: 0,
      count: 25,
      limitBytes: 3145728,
    });
    const lines = message.split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[9]).toMatch(/^entry with timestamp 2024-01-02 00:00:00\.000000009 \+0000 UTC ignored, /);
    expect(lines[10]).toBe(`user 'acme', total ignored: 25 out of 25 for stream: {app="a"}`);
  });
});

test.each([
  [0, '0B'],
  [1, '1B'],
  [1000, '1000B'],
  [1024, '1KB'],
  [1536, '1536B'],
  [1536 * 1024, '1536KB'],
  [3 * 1024 ** 2, '3MB'],
  [5 * 1024 ** 3, '5GB'],
])('%d bytes are printed as %s', (bytes, text) => {
  expect(rateSizeText(bytes)).toBe(text);
});
