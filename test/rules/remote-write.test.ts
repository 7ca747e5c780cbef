/** Requests to remote write receivers, read by third-party decoders. */
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { uncompress } from 'snappyjs';
import type { OutgoingRequest } from '../../shared/base/ports/http-client.ts';
import { remoteWriter, SERIES_AT_ONCE } from '../../shared/server/rules/remote-write/remote-writer.ts';
import { snappyEncode } from '../../shared/server/rules/remote-write/snappy-encode.ts';
import { encodeWriteRequest } from '../../shared/server/rules/remote-write/write-request.ts';
import type { RuleSample } from '../../shared/storage/catalog/rule-state.ts';
import { manualClock } from '../support/manual-clock.ts';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message WriteRequest { repeated TimeSeries timeseries = 1; }
  message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; }
  message Label { string name = 1; string value = 2; }
  message Sample { double value = 1; int64 timestamp = 2; }
`);
const WriteRequest = root.lookupType('WriteRequest');

interface Decoded {
  readonly timeseries: readonly {
    readonly labels: readonly { readonly name: string; readonly value: string }[];
    readonly samples: readonly { readonly value: number; readonly timestamp: string }[];
  }[];
}

function decode(bytes: Uint8Array): Decoded {
  const options = { longs: String, arrays: true, defaults: true };
  return WriteRequest.toObject(WriteRequest.decode(bytes), options) as Decoded;
}

const samplesOf = fc.array(
  fc.record({
    labels: fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: 'grapheme' })),
    value: fc.double(),
  }),
  { maxLength: 20 },
);

test('a request holds each series with one sample', () => {
  fc.assert(
    fc.property(samplesOf, fc.integer({ min: 0, max: 4_102_444_800_000 }), (samples, timeMs) => {
      const { timeseries } = decode(encodeWriteRequest(samples, timeMs));
      expect(timeseries).toHaveLength(samples.length);
      for (const [i, { labels, value }] of samples.entries()) {
        const read = Object.fromEntries(timeseries[i].labels.map(label => [label.name, label.value]));
        expect(read).toEqual({ ...labels });
        expect(timeseries[i].samples).toEqual([{ value, timestamp: String(timeMs) }]);
      }
    }),
    { numRuns: 60 },
  );
});

test('labels are in order, and the end of a series is a special NaN', () => {
  const bytes = encodeWriteRequest([{ labels: { b: '1', __name__: 'x', a: '2' }, value: 'stale' }], 1);
  expect(decode(bytes).timeseries[0].labels.map(({ name }) => name)).toEqual(['__name__', 'a', 'b']);
  expect(bytes.includes(Buffer.from('020000000000f07f', 'hex'))).toBe(true);
  const nan = encodeWriteRequest([{ labels: {}, value: Number.NaN }], 1);
  expect(nan.includes(Buffer.from('010000000000f87f', 'hex'))).toBe(true);
});

describe('snappy', () => {
  const read = (bytes: Uint8Array) => Buffer.from(uncompress(snappyEncode(bytes)));

  test('any bytes come back', () => {
    const letters = fc.array(fc.constantFrom(...Buffer.from('abcd')), { maxLength: 3000 });
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 3000 }), letters.map(Buffer.from));
    fc.assert(
      fc.property(bytes, input => {
        expect(read(input).equals(input)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test.each([0, 1, 15, 16, 17, 59, 60, 61, 255, 256, 257, 65_535, 65_536, 65_537, 200_000])(
    '%d bytes that repeat, and that do not',
    length => {
      const same = Buffer.alloc(length, 'abcdefg');
      expect(read(same).equals(same)).toBe(true);
      expect(snappyEncode(same).length).toBeLessThan(length / 15 + 100);
      let seed = 1;
      const noise = Buffer.from(
        Array.from({ length }, () => {
          seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
          return seed >>> 24;
        }),
      );
      expect(read(noise).equals(noise)).toBe(true);
      expect(snappyEncode(noise).length).toBeLessThanOrEqual(length + length / 6 + 32);
    },
  );
});

describe('the writer', () => {
  const samples: RuleSample[] = Array.from({ length: SERIES_AT_ONCE + 5 }, (_, i) => ({
    labels: { __name__: 'x', i: String(i) },
    value: i,
  }));
  const client = {
    url: 'http://user:pass%21@receiver.example/write',
    headers: { 'X-Own': 'yes', 'Content-Type': 'text/plain' },
    timeoutMs: 1234,
    basic: undefined,
    authorization: '',
  };
  const { signal } = new AbortController();

  async function write(statuses: readonly (number | Error)[], addOrgIdHeader = true) {
    const asked: OutgoingRequest[] = [];
    const clock = { ...manualClock(), sleep: async () => undefined };
    const http = {
      post: async (request: OutgoingRequest) => {
        const answer = statuses[Math.min(asked.length, statuses.length - 1)];
        asked.push(request);
        if (answer instanceof Error) throw answer;
        return { status: answer, text: 'said' };
      },
    };
    const writer = remoteWriter(
      { http, clock },
      { enabled: true, addOrgIdHeader, clients: new Map([['one', client]]) },
    );
    expect(writer.receivers).toEqual(['one']);
    const pending = { timeNs: '1767225600123456789', to: ['one'], samples };
    return { asked, sent: await writer.write('acme', 'one', pending, signal) };
  }

  test('sends the required headers and body', async () => {
    const { asked, sent } = await write([204]);
    expect(sent).toEqual({ end: 'taken' });
    expect(asked.map(({ url }) => url)).toEqual(Array(2).fill('http://receiver.example/write'));
    expect(asked[0].timeoutMs).toBe(1234);
    expect(asked[0].headers).toEqual({
      'user-agent': 'logboom',
      'x-own': 'yes',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
      'x-scope-orgid': 'acme',
      authorization: `Basic ${Buffer.from('user:pass!').toString('base64')}`,
    });
    const series = asked.flatMap(({ body }) => decode(Buffer.from(uncompress(body))).timeseries);
    expect(series).toHaveLength(samples.length);
    expect(series[7].samples).toEqual([{ value: 7, timestamp: '1767225600123' }]);
    expect((await write([204], false)).asked[0].headers).not.toHaveProperty('x-scope-orgid');
  });

  test.each([
    ['500', [500, 204], 'taken', 3],
    ['429', [429, 204], 'taken', 3],
    ['no answer', [new Error('connection refused'), 204], 'taken', 3],
    ['500 again and again', [500], 'failed', 3],
    ['400, which is never tried again', [400], 'refused', 2],
    ['a redirect, which is not followed', [302], 'refused', 2],
  ] as const)('%s', async (_, statuses, end, requests) => {
    const { asked, sent } = await write(statuses);
    expect([sent.end, asked.length]).toEqual([end, requests]);
    if (sent.end !== 'taken') expect(sent.reason).not.toContain('pass');
    // A repeat is the same, byte by byte.
    if (statuses.length > 1) expect(Buffer.compare(asked[0].body, asked[1].body)).toBe(0);
  });
});
