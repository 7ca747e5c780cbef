/**
 * Encodes tasks as bytes:
 *
 *   version u8 | kind u8 | flags u8 | tenant, query texts | fields of the kind
 *   day, from, to varints | now i64 | retention JSON text | delete requests | records | pages | neighbors |
 *   own records, maximum bytes, parts varints (0 if the pages are given) | day indexes
 *
 * Little-endian. A task is written and read by the same release of the program, so there is one version, and
 * any other is refused. Bytes are validated nevertheless: counts against the bytes that are left, indexes
 * against their lists.
 */

import { CorruptionError } from '../../../base/model/errors.ts';
import { readSpec, writeSpec } from '../../../execution/metrics/partial-state.ts';
import type { Grouping } from '../../../language/logql/ast.ts';
import { decodeRecord, encodeRecord } from '../../../storage/catalog/chunk-record.ts';
import { decodeDeleteRequest, encodeDeleteRequest } from '../../../storage/catalog/delete-request-codec.ts';
import { ByteReader, ByteWriter } from '../../../storage/codec/byte-io.ts';
import type { RetentionLimits } from '../../../upkeep/retention/retention.ts';
import type { LogTaskRequest, MetricTaskRequest, Task, TaskPage } from './task.ts';

const VERSION = 5;
const KINDS = ['metric', 'log'] as const;
const LABELED = 1;
const UNEVEN = 2;
const BACKWARD = 1;
const CATEGORIZE = 2;
const BOUNDED = 4;
const OF_FIELD = 8;

export function encodeTask(task: Task): Uint8Array {
  const writer = new ByteWriter(4096);
  writer.byte(VERSION);
  writer.byte(KINDS.indexOf(task.request.kind));
  writer.byte((task.isLabeled ? LABELED : 0) | (task.isUneven ? UNEVEN : 0));
  writer.text(task.tenant);
  writer.text(task.request.query);
  if (task.request.kind === 'metric') writeMetricRequest(writer, task.request);
  else writeLogRequest(writer, task.request);
  writer.varint(task.day);
  writer.varint(task.from);
  writer.varint(task.to);
  const now = Buffer.alloc(8);
  now.writeBigInt64LE(task.nowNs);
  writer.bytes(now);
  writer.text(retentionText(task.retention));
  writer.varint(task.deletes.length);
  for (const request of task.deletes) writer.block(encodeDeleteRequest(request));
  writer.varint(task.records.length);
  // A worker that plans has only chunks that the label sketches left, and they are most of a record.
  const isPlanned = task.plannedByWorker !== undefined;
  for (const record of task.records) {
    writer.block(encodeRecord(isPlanned ? { ...record, pairs: undefined } : record));
  }
  writePages(writer, task.pages);
  writePages(writer, task.neighbors);
  writer.varint(task.plannedByWorker?.own ?? 0);
  writer.varint(task.plannedByWorker?.maxBytes ?? 0);
  writer.varint(task.plannedByWorker?.parts ?? 0);
  writer.varint(task.indexes.length);
  for (const { fromMinute, streamPart = 0, id, storedBytes, headBytes } of task.indexes) {
    writer.varint(fromMinute);
    writer.varint(streamPart);
    writer.text(id);
    writer.varint(storedBytes);
    writer.varint(headBytes);
  }
  return writer.finish();
}

/** Throws CorruptionError. */
export function decodeTask(bytes: Uint8Array): Task {
  const reader = new ByteReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const version = reader.byte();
  if (version !== VERSION) throw corrupt(`version ${version}`);
  const kind = KINDS[reader.byte()];
  if (kind === undefined) throw corrupt('unknown kind');
  const flags = reader.byte();
  const tenant = reader.text();
  const query = reader.text();
  const request = kind === 'metric' ? readMetricRequest(reader, query) : readLogRequest(reader, query);
  const day = reader.varint();
  const from = reader.varint();
  const to = reader.varint();
  const nowNs = reader.bytes(8).readBigInt64LE();
  const retention = retentionOfText(reader.text());
  const deletes = list(reader, 1, () => deleteRequest(tenant, reader.block()));
  const records = list(reader, 1, () => decodeRecord(tenant, day, reader.block()));
  const pages = readPages(reader, records.length);
  const neighbors = readPages(reader, records.length);
  const [own, maxBytes, parts] = [reader.varint(), reader.varint(), reader.varint()];
  const indexes = list(reader, 5, () => ({
    fromMinute: reader.varint(),
    streamPart: reader.varint() || undefined,
    id: reader.text(),
    storedBytes: reader.varint(),
    headBytes: reader.varint(),
  }));
  if (own > records.length) throw corrupt(`${own} of ${records.length} records`);
  if (reader.remaining > 0) throw corrupt(`${reader.remaining} extra bytes at the end`);
  return {
    tenant,
    isLabeled: (flags & LABELED) !== 0,
    request,
    day,
    from,
    to,
    isUneven: (flags & UNEVEN) !== 0,
    nowNs,
    retention,
    deletes,
    records,
    pages,
    neighbors,
    indexes,
    plannedByWorker: own === 0 ? undefined : { own, maxBytes, parts },
  };
}

function writeMetricRequest(writer: ByteWriter, { spec, grouping }: MetricTaskRequest): void {
  writeSpec(writer, spec);
  writer.byte(grouping === undefined ? 0 : grouping.without ? 2 : 1);
  writer.varint(grouping?.labels.length ?? 0);
  for (const label of grouping?.labels ?? []) writer.text(label);
}

function readMetricRequest(reader: ByteReader, query: string): MetricTaskRequest {
  const spec = readSpec(reader);
  const form = reader.byte();
  if (form > 2) throw corrupt(`grouping of form ${form}`);
  const labels = list(reader, 1, () => reader.text());
  const grouping: Grouping | undefined = form === 0 ? undefined : { without: form === 2, labels };
  return { kind: 'metric', query, spec, grouping };
}

function writeLogRequest(
  writer: ByteWriter,
  { limit, backward, categorize, field, bound }: LogTaskRequest,
): void {
  writer.varint(limit);
  writer.byte(
    (backward ? BACKWARD : 0) |
      (categorize ? CATEGORIZE : 0) |
      (bound === undefined ? 0 : BOUNDED) |
      (field === undefined ? 0 : OF_FIELD),
  );
  writer.varint(bound ?? 0);
  writer.text(field ?? '');
}

function readLogRequest(reader: ByteReader, query: string): LogTaskRequest {
  const limit = reader.varint();
  const flags = reader.byte();
  const bound = reader.varint();
  const field = reader.text();
  return {
    kind: 'log',
    query,
    limit,
    backward: (flags & BACKWARD) !== 0,
    categorize: (flags & CATEGORIZE) !== 0,
    field: (flags & OF_FIELD) === 0 ? undefined : field,
    bound: (flags & BOUNDED) === 0 ? undefined : bound,
  };
}

function writePages(writer: ByteWriter, pages: readonly TaskPage[]): void {
  writer.varint(pages.length);
  for (const { record, page, runs } of pages) {
    writer.varint(record);
    writer.varint(page);
    // 0 stands for all runs: a page is never planned for none.
    writer.varint(runs?.length ?? 0);
    let next = 0;
    for (const run of runs ?? []) {
      writer.varint(run - next);
      next = run + 1;
    }
  }
}

function readPages(reader: ByteReader, records: number): TaskPage[] {
  return list(reader, 3, () => {
    const record = reader.varint();
    if (record >= records) throw corrupt(`record ${record} of ${records}`);
    const page = reader.varint();
    let next = 0;
    const runs = list(reader, 1, () => {
      const run = next + reader.varint();
      next = run + 1;
      return run;
    });
    return { record, page, runs: runs.length === 0 ? undefined : runs };
  });
}

/** JSON without bigint: periods are decimal digits. */
function retentionText({ retentionPeriodNs, retentionStream }: RetentionLimits): string {
  if (retentionPeriodNs === 0n && retentionStream.length === 0) return '';
  const rules = retentionStream.map(({ selector, priority, periodNs }) => [
    selector,
    priority,
    `${periodNs}`,
  ]);
  return JSON.stringify([`${retentionPeriodNs}`, rules]);
}

function retentionOfText(text: string): RetentionLimits {
  if (text === '') return { retentionPeriodNs: 0n, retentionStream: [] };
  try {
    const [period, rules] = JSON.parse(text) as [string, [string, number, string][]];
    return {
      retentionPeriodNs: BigInt(period),
      retentionStream: rules.map(([selector, priority, periodNs]) => {
        return { selector, priority, periodNs: BigInt(periodNs) };
      }),
    };
  } catch (error) {
    throw corrupt(`retention: ${error}`);
  }
}

function deleteRequest(tenant: string, bytes: Buffer): Task['deletes'][0] {
  try {
    return decodeDeleteRequest(tenant, bytes);
  } catch (error) {
    throw corrupt(`delete request: ${error}`);
  }
}

/** Reads a count, and that many items of at least `minBytes` each. */
function list<T>(reader: ByteReader, minBytes: number, read: () => T): T[] {
  return Array.from({ length: reader.count(minBytes) }, read);
}

function corrupt(what: string): CorruptionError {
  return new CorruptionError(`query task: ${what}`);
}
