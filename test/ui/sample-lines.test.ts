import { describe, expect, test } from '@jest/globals';
import { fieldsOf } from '../../ui/src/lines/fields.ts';
import { sampleStreams } from '../../ui/src/sample/sample-lines.ts';

describe('sample data', () => {
  const endMs = 1_700_000_000_000;
  const streams = sampleStreams(endMs);

  test('is 3,100 lines of five services of the last hour, all of them labeled', () => {
    expect(streams.map(({ stream, values }) => [stream.service_name, values.length])).toEqual([
      ['sample-web', 1200],
      ['sample-api', 900],
      ['sample-auth', 400],
      ['sample-payments', 400],
      ['sample-mail', 200],
    ]);
    expect(new Set(streams.map(({ stream }) => stream.sample_data))).toEqual(
      new Set(['2023-11-14T22:13:20.000Z']),
    );
    const times = streams.flatMap(({ values }) => values.map(([ns]) => Number(ns.slice(0, -6))));
    expect(Math.min(...times)).toBeGreaterThan(endMs - 3_600_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(endMs);
  });

  test('has JSON, logfmt, access logs and stack traces, and is the same each time', () => {
    const parsers = streams.map(({ values }) => fieldsOf(values[0][1])?.parser);
    expect(parsers).toEqual([undefined, 'json', 'logfmt', 'json', undefined]);
    expect(streams[4].values.some(([, line]) => line.includes('\n\tat '))).toBe(true);
    expect(sampleStreams(endMs)).toEqual(streams);
  });
});
