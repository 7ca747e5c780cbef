/**
 * Work of a decoder per step, in which its thread serves nothing else: streams and resources cost far more
 * than their bytes. Counted, not timed.
 */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { otlpReceiver } from '../../shared/write/ingest/otlp/otlp-receiver.ts';
import { field } from '../adversarial/support/packed.ts';

const COUNT = 5_000;
/** Streams of one step: about 20 us each. */
const MAX_IN_STEP = 40;

const numbers = Array.from({ length: COUNT }, (_, i) => i);
const labels = (i: number) => `{job="${i}"}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

test.each([
  [
    'Loki protobuf',
    lokiReceiver('application/x-protobuf', false),
    Buffer.concat(numbers.map(i => field(1, Buffer.concat([field(1, labels(i)), field(2, field(2, 'x'))])))),
  ],
  [
    'Loki JSON',
    lokiReceiver('application/json', false),
    json({ streams: numbers.map(i => ({ stream: { job: `${i}` }, values: [['1', 'x']] })) }),
  ],
  [
    'legacy JSON',
    lokiReceiver('application/json', true),
    json({
      streams: numbers.map(i => ({
        labels: labels(i),
        entries: [{ ts: '2026-01-01T00:00:00Z', line: 'x' }],
      })),
    }),
  ],
  ['OTLP protobuf', otlpReceiver('application/x-protobuf'), Buffer.concat(numbers.map(() => field(1, '')))],
  [
    'OTLP protobuf scopes',
    otlpReceiver('application/x-protobuf'),
    field(1, Buffer.concat(numbers.map(() => field(2, '')))),
  ],
  ['OTLP JSON', otlpReceiver('application/json'), json({ resourceLogs: numbers.map(() => ({})) })],
  [
    'OTLP JSON scopes',
    otlpReceiver('application/json'),
    json({ resourceLogs: [{ scopeLogs: numbers.map(() => ({})) }] }),
  ],
] as const)('%s: a decoding step processes few streams', (_, receiver, body) => {
  const steps = receiver.decode(Buffer.from(body), { limits: DEFAULT_LIMITS, nowNs: 0n });
  let count = 1;
  while (!steps.next().done) count++;
  expect(COUNT / count).toBeLessThanOrEqual(MAX_IN_STEP);
});
