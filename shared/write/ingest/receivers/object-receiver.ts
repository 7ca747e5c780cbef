/**
 * Receives one batch of a log file as a push. An entry without a time gets the write time of the file, plus
 * its line number in nanoseconds. If the event that names the file repeats, it yields the same entries, which
 * are stored once.
 */
import { type Label, labelsOf } from '../../../base/model/labels.ts';
import { MAX_PUSH_ENTRIES, tooMany } from '../bounds.ts';
import { PushColumns } from '../push-columns.ts';
import type { Receiver } from '../receiver.ts';
import { streamOf } from '../stream-table.ts';
import { type Timestamp, timestampOf } from '../timestamp.ts';
import { DocumentEntries } from './document-entries.ts';
import { DEFAULT_FIELDS } from './field-options.ts';
import type { ObjectBatch } from './object-batches.ts';
import { isHeader, timeOfLine } from './object-format.ts';
import { isBlank, LineEnds } from './text-body.ts';
import { addNanoseconds } from './time-value.ts';
import { validUtf8 } from './valid-utf8.ts';

interface ObjectReceiverOptions {
  readonly batch: ObjectBatch;
  /** Labels of every entry. `log_type` is added. */
  readonly labels: readonly Label[];
  /** Metadata of every entry: the file that contained it. */
  readonly metadata: readonly Label[];
  /** Write time of the object, Unix ms. */
  readonly lastModifiedMs: number;
}

/** CloudTrail's `eventTime` is first, because users find its records by it. */
const TIME_FIELDS = ['eventTime', ...DEFAULT_FIELDS.timeFields];
const BRACE = 0x7b;
/** Bytes of the batch decoded per step: a few tenths of a millisecond. A line is never split. */
const STEP_BYTES = 16 * 1024;
const TIME: Timestamp = { day: 0, timeOfDay: 0 };

export function objectReceiver({ batch, labels, metadata, lastModifiedMs }: ObjectReceiverOptions): Receiver {
  const { format, firstLine } = batch;
  const allLabels = [...labels, { name: 'log_type', value: format.name }];
  const fields = { ...DEFAULT_FIELDS, timeFields: TIME_FIELDS, extraMetadata: metadata };
  return {
    format: 's3_object',
    unpack: body => Buffer.from(body.buffer, body.byteOffset, body.length),
    *decode(body, context) {
      const text = yield* validUtf8(body);
      const columns = new PushColumns(text);
      const nowNs = BigInt(lastModifiedMs) * 1_000_000n + BigInt(firstLine);
      const documents = yield* DocumentEntries.over(columns, fields, { ...context, nowNs });
      const arrival = timestampOf(nowNs);
      let textStream = -1;
      let line = 0;
      let stop = STEP_BYTES;
      const bytes = columns.bytes;
      // Extra metadata is behind the text.
      const ends = new LineEnds(bytes.subarray(0, text.length));
      for (let start = 0, end = 0; start < text.length; start = end + 1, line++) {
        while ((end = ends.find(start)) < 0) yield;
        if (end >= stop) {
          stop = end + STEP_BYTES;
          yield;
        }
        if (isBlank(bytes, start, end) || isHeader(format, bytes, start, firstLine + line)) continue;
        if (bytes[start] === BRACE && documents.add(start, end, '', allLabels) === undefined) continue;
        if (columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
        if (textStream < 0) {
          const pairs = allLabels.map(({ name, value }) => [name, value] as const);
          textStream = documents.streams.indexOf(streamOf(labelsOf(pairs)));
        }
        if (!timeOfLine(TIME, format, bytes, start, end)) addNanoseconds(TIME, arrival, line);
        const last = bytes[end - 1] === 0x0d ? end - 1 : end;
        columns.addEntry(textStream, TIME.day, TIME.timeOfDay, start, last);
        documents.addExtraMetadata();
      }
      return columns;
    },
    repeatable: true,
  };
}
