import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClientError, CorruptionError } from '../../../shared/base/model/errors.ts';
import { ObjectNotFoundError } from '../../../shared/base/ports/object-store.ts';
import type { LineForm } from '../../../shared/execution/fields/line-form.ts';
import {
  decodeTaskAnswer,
  encodeFailure,
  encodeTaskAnswer,
} from '../../../shared/read/query/tasks/answer-codec.ts';
import type { Task, TaskAnswer } from '../../../shared/read/query/tasks/task.ts';
import { decodeTask, encodeTask } from '../../../shared/read/query/tasks/task-codec.ts';
import { failureOf } from '../../../shared/read/query/tasks/task-failure.ts';
import { NOT_BEGUN } from '../../../shared/storage/catalog/delete-request.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const whole = fc.nat(2 ** 31 - 1);
const time = fc.integer({ min: 0, max: 86_400_000_000_000 - 1 });
const labels = fc.array(fc.record({ name: text, value: text }), { maxLength: 3 });

const record = fc
  .record({
    level: fc.nat(3),
    first: time,
    rows: whole,
    lineBytes: whole,
    metadataBytes: whole,
    asOfMs: whole,
    footerBytes: fc.nat(100),
    pairs: fc.option(fc.uint32Array({ maxLength: 3 }), { nil: undefined }),
    inline: fc.option(fc.uint8Array({ maxLength: 20 }), { nil: undefined }),
  })
  .map(({ inline, ...rest }) => ({
    ...rest,
    id: '0123456789abcdef0123456789abcdef',
    origin: rest.level === 0 ? '0123456789abcdef0123456789abcdef' : '0123456789abcdef0000000000000000',
    tenant: 't',
    day: 20_000,
    last: rest.first,
    storedBytes: inline?.length ?? 1000,
    inline: inline && Buffer.from(inline),
    footer: undefined,
  }));

const pages = fc.array(
  fc.record({
    record: fc.constantFrom(0, 1),
    page: fc.nat(1000),
    runs: fc.option(
      fc.uniqueArray(fc.nat(100), { minLength: 1, maxLength: 4 }).map(runs => runs.sort((a, b) => a - b)),
      { nil: undefined },
    ),
  }),
  { maxLength: 4 },
);

const taskRequest: fc.Arbitrary<Task['request']> = fc.oneof(
  fc.record({
    kind: fc.constant('log' as const),
    query: text,
    limit: whole,
    backward: fc.boolean(),
    categorize: fc.boolean(),
    field: fc.option(text, { nil: undefined }),
    bound: fc.option(time, { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('metric' as const),
    query: text,
    spec: fc.record({
      op: fc.constantFrom('rate' as const, 'quantile_over_time' as const),
      parameter: fc.option(fc.double({ noNaN: true }), { nil: undefined }),
      startNs: fc.constant(5n),
      endNs: fc.constantFrom(5n, 700n),
      stepNs: fc.constant(7n),
      rangeNs: fc.bigInt({ min: 0n, max: 1n << 60n }),
      offsetNs: fc.bigInt({ min: -(1n << 60n), max: 1n << 60n }),
      unwrapped: fc.boolean(),
    }),
    grouping: fc.option(fc.record({ without: fc.boolean(), labels: fc.array(text, { maxLength: 3 }) }), {
      nil: undefined,
    }),
  }),
);

const request = {
  id: '00000001',
  tenant: 't',
  startNs: 1n,
  endNs: 2n,
  intervalNs: 0n,
  createdMs: 5,
  ...NOT_BEGUN,
};
const task: fc.Arbitrary<Task> = fc.record({
  tenant: fc.constant('t'),
  isLabeled: fc.boolean(),
  request: taskRequest,
  day: fc.constant(20_000),
  from: time,
  to: time,
  isUneven: fc.boolean(),
  nowNs: fc.bigInt({ min: 0n, max: 1n << 62n }),
  retention: fc.record({
    retentionPeriodNs: fc.bigInt({ min: 0n, max: 1n << 60n }),
    retentionStream: fc.array(
      fc.record({ selector: text, priority: fc.nat(9), periodNs: fc.bigInt({ min: 0n, max: 1n << 60n }) }),
      { maxLength: 2 },
    ),
  }),
  deletes: fc.array(
    text.map(query => ({ ...request, query })),
    { maxLength: 2 },
  ),
  records: fc.tuple(record, record),
  pages,
  neighbors: pages,
  indexes: fc.array(fc.record({ fromMinute: fc.nat(1439), id: text, storedBytes: whole, headBytes: whole }), {
    maxLength: 2,
  }),
});

const figures = fc.record({
  pagesRead: whole,
  compressedBytes: whole,
  lineBytes: whole,
  metadataBytes: whole,
  lines: whole,
  postFilterLines: whole,
  duplicates: whole,
  downloadNs: whole,
});
const ms = whole.map(us => us / 1_000);
const reads = fc.array(fc.record({ what: text, startMs: ms, endMs: ms, bytes: whole, connectionMs: ms }), {
  maxLength: 3,
});
const form: fc.Arbitrary<LineForm> = fc
  .array(
    fc.record({
      gap: whole,
      field: fc.record({
        name: text,
        path: fc.array(text, { maxLength: 2 }),
        absent: fc.option(text, { nil: undefined }),
      }),
    }),
    { maxLength: 3 },
  )
  .chain(members =>
    fc.record({
      parser: fc.constantFrom('json' as const, 'logfmt' as const),
      fields: fc.constant(members.map(({ field }) => field)),
      gaps: fc.constant(members.map(({ gap }) => gap)),
    }),
  );
const answer: fc.Arbitrary<TaskAnswer> = fc.oneof(
  fc.record({
    kind: fc.constant('metric' as const),
    ranIn: text,
    figures,
    reads,
    series: fc.array(labels, { maxLength: 3 }),
    state: fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes)),
  }),
  fc.record({
    kind: fc.constant('log' as const),
    ranIn: text,
    figures,
    reads,
    entries: fc.array(
      fc
        .record({
          time,
          hash: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
          record: whole,
          page: whole,
          row: whole,
          line: text,
          form: fc.option(form, { nil: undefined }),
          stream: labels,
          structuredMetadata: fc.option(labels, { nil: undefined }),
          parsed: fc.option(labels, { nil: undefined }),
        })
        .map(entry => ({ ...entry, key: JSON.stringify(entry.stream) })),
      { maxLength: 5 },
    ),
  }),
);

describe('encoded tasks and results', () => {
  test('decode to the original values', () => {
    fc.assert(
      fc.property(task, one => expect(decodeTask(encodeTask(one))).toEqual(one)),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(answer, one => expect(decodeTaskAnswer(encodeTaskAnswer(one))).toEqual(one)),
      { numRuns: 200 },
    );
  });

  test('are refused if the bytes are corrupt', () => {
    const readers = [
      [task.map(encodeTask), decodeTask],
      [answer.map(encodeTaskAnswer), decodeTaskAnswer],
    ] as const;
    for (const [bytes, decode] of readers) {
      fc.assert(
        fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (whole, at, flip) => {
          // Truncation is always detected; a changed byte may be another valid value, but never causes a
          // defect.
          expect(() => decode(whole.subarray(0, at % whole.length))).toThrow(CorruptionError);
          const changed = Uint8Array.from(whole);
          changed[at % whole.length] ^= flip;
          try {
            decode(changed);
          } catch (error) {
            if (!(error instanceof CorruptionError || (error as Error).name === 'InvokerError')) throw error;
          }
        }),
        { numRuns: 300 },
      );
    }
  });

  test.each([
    [new ClientError(422, 'too much'), { status: 422, message: 'too much' }],
    [
      new CorruptionError('chunk a/b: checksum differs'),
      { name: 'CorruptionError', message: 'chunk a/b: checksum differs' },
    ],
    [
      new ObjectNotFoundError('t/chunks/1'),
      { name: 'ObjectNotFoundError', message: 'no object with key t/chunks/1' },
    ],
    [
      new TypeError('x is undefined'),
      { name: 'InvokerError', message: expect.stringContaining('x is undefined') },
    ],
  ])('throw %s where the result is awaited', (error, want) => {
    let thrown: unknown;
    try {
      decodeTaskAnswer(encodeFailure(failureOf(error)));
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toMatchObject(want);
  });
});
