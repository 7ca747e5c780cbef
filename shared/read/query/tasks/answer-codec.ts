/**
 * Encodes task results as bytes: `version u8 | kind u8 |` and
 *
 *   metric   ranIn text | figures | reads | series: labels of each | state (partial-state.ts)
 *   log      ranIn text | figures | reads | streams: key and labels of each | forms | for each entry: stream, time, hash of the
 *            stored stream u64, record, page, row, line, form, metadata, parsed
 *   split    ranIn text | figures | reads | bytes that are left
 *   error    status u16 | name, message texts
 *
 * Texts of entries and labels preserve bytes that are not UTF-8, so that different values stay different.
 */

import { CorruptionError } from '../../../base/model/errors.ts';
import type { Label, Labels } from '../../../base/model/labels.ts';
import type { LineForm } from '../../../execution/fields/line-form.ts';
import { ByteReader, ByteWriter } from '../../../storage/codec/byte-io.ts';
import {
  FIGURE_NAMES,
  type LogTaskAnswer,
  type MetricTaskAnswer,
  type TaskAnswer,
  type TaskEntry,
  type TaskFigures,
} from './task.ts';
import { type TaskFailure, taskError } from './task-failure.ts';

const VERSION = 5;
const METRIC = 0;
const LOG = 1;
const ERROR = 2;
const SPLIT = 3;
const KINDS = { metric: METRIC, log: LOG, split: SPLIT } as const;
const US_PER_MS = 1_000;

export function encodeTaskAnswer(answer: TaskAnswer): Uint8Array {
  const writer = begin(KINDS[answer.kind], 4096);
  writer.byteText(answer.ranIn);
  for (const name of FIGURE_NAMES) writer.varint(answer.figures[name]);
  writeReads(writer, answer.reads);
  if (answer.kind === 'metric') writeMetric(writer, answer);
  else if (answer.kind === 'log') writeLog(writer, answer);
  else writer.varint(answer.bytes);
  return writer.finish();
}

export function encodeFailure({ status, name, message }: TaskFailure): Uint8Array {
  const writer = begin(ERROR, 256);
  writer.varint(status);
  writer.byteText(name);
  writer.byteText(message);
  return writer.finish();
}

/** Returns false for an encoded failure. */
export function isTaskAnswer(bytes: Uint8Array): boolean {
  return bytes[0] === VERSION && bytes[1] !== ERROR;
}

/** Throws the failure of the task, or CorruptionError. */
export function decodeTaskAnswer(bytes: Uint8Array): TaskAnswer {
  const reader = new ByteReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const version = reader.byte();
  if (version !== VERSION) throw corrupt(`version ${version}`);
  const kind = reader.byte();
  if (kind === ERROR) {
    throw taskError({ status: reader.varint(), name: reader.byteText(), message: reader.byteText() });
  }
  if (kind !== METRIC && kind !== LOG && kind !== SPLIT) throw corrupt(`kind ${kind}`);
  const ranIn = reader.byteText();
  const figures = Object.fromEntries(
    FIGURE_NAMES.map(name => [name, reader.varint()]),
  ) as unknown as TaskFigures;
  const answer = readAnswer(reader, kind, { ranIn, figures, reads: readReads(reader) });
  if (reader.remaining > 0) throw corrupt(`${reader.remaining} extra bytes at the end`);
  return answer;
}

function readAnswer(reader: ByteReader, kind: number, answered: AnswerBase): TaskAnswer {
  if (kind === METRIC) return readMetric(reader, answered);
  return kind === LOG ? readLog(reader, answered) : { kind: 'split', ...answered, bytes: reader.varint() };
}

type AnswerBase = Pick<TaskAnswer, 'ranIn' | 'figures' | 'reads'>;

function begin(kind: number, capacity: number): ByteWriter {
  const writer = new ByteWriter(capacity);
  writer.byte(VERSION);
  writer.byte(kind);
  return writer;
}

/** Times in microseconds. */
function writeReads(writer: ByteWriter, reads: TaskAnswer['reads']): void {
  writer.varint(reads.length);
  for (const { what, startMs, endMs, bytes, connectionMs } of reads) {
    writer.text(what);
    for (const ms of [startMs, endMs, connectionMs]) writer.varint(Math.max(0, Math.round(ms * US_PER_MS)));
    writer.varint(bytes);
  }
}

function readReads(reader: ByteReader): TaskAnswer['reads'] {
  return list(reader, 5, () => ({
    what: reader.text(),
    startMs: reader.varint() / US_PER_MS,
    endMs: reader.varint() / US_PER_MS,
    connectionMs: reader.varint() / US_PER_MS,
    bytes: reader.varint(),
  }));
}

function writeMetric(writer: ByteWriter, { series, state }: MetricTaskAnswer): void {
  writer.varint(series.length);
  for (const labels of series) writeLabels(writer, labels);
  writer.block(state);
}

function readMetric(reader: ByteReader, answered: AnswerBase): MetricTaskAnswer {
  const series = list(reader, 1, () => readLabels(reader));
  return { kind: 'metric', ...answered, series, state: reader.block() };
}

function writeLog(writer: ByteWriter, { entries }: LogTaskAnswer): void {
  const streams = new Map<string, number>();
  for (const { key } of entries) if (!streams.has(key)) streams.set(key, streams.size);
  writer.varint(streams.size);
  let next = 0;
  for (const { key, stream } of entries) {
    if (streams.get(key) !== next) continue;
    next++;
    writer.byteText(key);
    writeLabels(writer, stream);
  }
  const forms = [...new Set(entries.map(({ form }) => form))].filter(form => form !== undefined);
  const numbers = new Map<LineForm | undefined, number>(forms.map((form, i) => [form, i + 1]));
  writer.varint(forms.length);
  for (const form of forms) writeForm(writer, form);
  writer.varint(entries.length);
  for (const entry of entries) {
    writer.varint(streams.get(entry.key)!);
    writer.varint(entry.time);
    writer.u64(entry.hash);
    writer.varint(entry.record);
    writer.varint(entry.page);
    writer.varint(entry.row);
    writer.byteText(entry.line);
    writer.varint(numbers.get(entry.form) ?? 0);
    writeOptionalLabels(writer, entry.structuredMetadata);
    writeOptionalLabels(writer, entry.parsed);
  }
}

function readLog(reader: ByteReader, answered: AnswerBase): LogTaskAnswer {
  const formOf = (number: number) => {
    if (number > forms.length) throw corrupt(`form ${number} of ${forms.length}`);
    return number === 0 ? undefined : forms[number - 1];
  };
  const streams = list(reader, 2, () => ({ key: reader.byteText(), stream: readLabels(reader) }));
  const forms = list(reader, 3, () => readForm(reader));
  const entries = list(reader, 16, (): TaskEntry => {
    const index = reader.varint();
    if (index >= streams.length) throw corrupt(`stream ${index} of ${streams.length}`);
    return {
      ...streams[index],
      time: reader.varint(),
      hash: reader.u64(),
      record: reader.varint(),
      page: reader.varint(),
      row: reader.varint(),
      line: reader.byteText(),
      form: formOf(reader.varint()),
      structuredMetadata: readOptionalLabels(reader),
      parsed: readOptionalLabels(reader),
    };
  });
  return { kind: 'log', ...answered, entries };
}

function writeForm(writer: ByteWriter, { parser, fields, gaps }: LineForm): void {
  writer.byte(parser === 'json' ? 1 : 0);
  writer.varint(fields.length);
  for (const [i, { name, path, absent }] of fields.entries()) {
    writer.byteText(name);
    writer.varint(path.length);
    for (const key of path) writer.byteText(key);
    writer.byte(absent === undefined ? 0 : 1);
    writer.byteText(absent ?? '');
    writer.varint(gaps[i]);
  }
}

function readForm(reader: ByteReader): LineForm {
  const parser = reader.byte() === 1 ? 'json' : 'logfmt';
  const gaps: number[] = [];
  const fields = list(reader, 5, () => {
    const name = reader.byteText();
    const path = list(reader, 1, () => reader.byteText());
    const hasAbsent = reader.byte() === 1;
    const absent = reader.byteText();
    gaps.push(reader.varint());
    return { name, path, absent: hasAbsent ? absent : undefined };
  });
  return { parser, fields, gaps };
}

function writeLabels(writer: ByteWriter, labels: Labels): void {
  writer.varint(labels.length);
  for (const { name, value } of labels) {
    writer.byteText(name);
    writer.byteText(value);
  }
}

function readLabels(reader: ByteReader): Label[] {
  return list(reader, 2, () => ({ name: reader.byteText(), value: reader.byteText() }));
}

/** 1 before the list, or 0 if there is none. */
function writeOptionalLabels(writer: ByteWriter, labels: Labels | undefined): void {
  writer.byte(labels === undefined ? 0 : 1);
  if (labels !== undefined) writeLabels(writer, labels);
}

function readOptionalLabels(reader: ByteReader): Label[] | undefined {
  return reader.byte() === 0 ? undefined : readLabels(reader);
}

/** Reads a count, and that many items of at least `minBytes` each. */
function list<T>(reader: ByteReader, minBytes: number, read: () => T): T[] {
  return Array.from({ length: reader.count(minBytes) }, read);
}

function corrupt(what: string): CorruptionError {
  return new CorruptionError(`task result: ${what}`);
}
