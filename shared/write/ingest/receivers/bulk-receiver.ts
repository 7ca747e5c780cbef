/**
 * Receives Elasticsearch bulk requests: an action line, followed by a document line for `create`, `index` and
 * `update`.
 *
 * The receiver serves one request. It records the result of each item, because the response lists them. Only
 * creation is accepted: `index` creates too, while `update` and `delete` are refused as by a data stream.
 */
import { equalRange } from '../../../base/model/bytes.ts';
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Label } from '../../../base/model/labels.ts';
import type { Steps } from '../../../base/model/steps.ts';
import { tooMany } from '../bounds.ts';
import { PushColumns } from '../push-columns.ts';
import type { DecodeContext, Receiver } from '../receiver.ts';
import { MAX_ACTION_BYTES, MAX_BULK_ITEMS, MAX_INDEX_NAME_BYTES } from './bounds.ts';
import { DocumentEntries, type DocumentFailure, MAX_DOCUMENT_BYTES } from './document-entries.ts';
import type { FieldOptions } from './field-options.ts';
import { isBlank, LineEnds, unpackText } from './text-body.ts';
import { validUtf8 } from './valid-utf8.ts';

const BULK_OPERATIONS = ['create', 'index', 'update', 'delete'] as const;
type BulkOperation = (typeof BULK_OPERATIONS)[number];

interface BulkAction {
  readonly operation: BulkOperation;
  readonly index: string;
  /** Empty if the client lets the store choose. */
  readonly id: string;
}

export interface BulkItem {
  readonly action: BulkAction;
  /** Index of its entry in the columns, or -1 if there is none. */
  readonly entry: number;
  readonly failure?: BulkFailure;
}

export interface BulkFailure {
  readonly type: string;
  readonly reason: string;
}

interface BulkReceiver extends Receiver {
  /** Results that `decode` adds, in the order of the request. */
  readonly items: readonly BulkItem[];
}

interface BulkOptions {
  readonly fields: FieldOptions;
  /** Index for actions without one. Empty if the path does not name one either. */
  readonly index: string;
}

/**
 * Removes dates, so that daily and monthly indexes share a stream: `logs-2026.11.21` becomes `logs`. The
 * entry has the time.
 */
const DATE_SUFFIX = /[-_.]\d{4}[.-]\d{2}(?:[.-]\d{2})?$/;

const CREATE_ONLY: BulkFailure = Object.freeze({
  type: 'illegal_argument_exception',
  reason: 'only write ops with an op_type of create are allowed in data streams',
});
const BAD_INDEX: BulkFailure = Object.freeze({
  type: 'invalid_index_name_exception',
  reason: `index name is too long, (more than ${MAX_INDEX_NAME_BYTES} bytes)`,
});
const FAILURES: Readonly<Record<DocumentFailure, BulkFailure>> = {
  'no-object': {
    type: 'document_parsing_exception',
    reason: 'failed to parse: the document is not a JSON object',
  },
  'bad-time': {
    type: 'document_parsing_exception',
    reason: 'failed to parse the time field as a date',
  },
  'too-long': {
    type: 'document_parsing_exception',
    reason: `the document exceeds ${MAX_DOCUMENT_BYTES} bytes`,
  },
};

/**
 * Creates the receiver of one request. Its `decode` throws BadRequestError if the request does not consist of
 * actions.
 */
export function bulkReceiver(options: BulkOptions): BulkReceiver {
  const items: BulkItem[] = [];
  return {
    format: 'elasticsearch',
    unpack: unpackText,
    decode: (bytes, context) => decodeBulk(bytes, context, options, items),
    // A document without a time gets its arrival time.
    repeatable: false,
    items,
  };
}

interface KnownAction extends BulkAction {
  readonly start: number;
  readonly end: number;
  readonly labels: readonly Label[];
}

/** Bytes of the body decoded per step: a few tenths of a millisecond. A document is never split. */
const STEP_BYTES = 16 * 1024;

function* decodeBulk(
  body: Buffer,
  context: DecodeContext,
  options: BulkOptions,
  items: BulkItem[],
): Steps<PushColumns> {
  const bytes = yield* validUtf8(body);
  const columns = new PushColumns(bytes);
  const documents = yield* DocumentEntries.over(columns, options.fields, context);
  const ends = new LineEnds(bytes);
  let stop = STEP_BYTES;
  let action: KnownAction | undefined;
  let lineNumber = 0;
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    while ((end = ends.find(start)) < 0) yield;
    lineNumber++;
    if (end >= stop) {
      stop = end + STEP_BYTES;
      yield;
    }
    if (isBlank(bytes, start, end)) continue;
    if (items.length === MAX_BULK_ITEMS) throw tooMany('items', MAX_BULK_ITEMS);
    // Most clients send the same action for all documents.
    if (action === undefined || !equalRange(bytes, start, end, bytes, action.start, action.end)) {
      action = { ...readAction(bytes, start, end, lineNumber, options.index), start, end };
    }
    if (action.operation === 'delete') {
      items.push({ action, entry: -1, failure: CREATE_ONLY });
      continue;
    }
    start = end + 1;
    lineNumber++;
    if (start >= bytes.length) {
      throw new BadRequestError(
        `Malformed action/metadata line [${lineNumber - 1}], expected a document behind it`,
      );
    }
    while ((end = ends.find(start)) < 0) yield;
    const failure = failureOf(action) ?? addDocument(documents, start, end, action);
    items.push({ action, entry: failure === undefined ? columns.count - 1 : -1, failure });
  }
  if (items.length === 0) throw new BadRequestError('request body is required');
  return columns;
}

function failureOf({ operation, index }: BulkAction): BulkFailure | undefined {
  if (operation === 'update') return CREATE_ONLY;
  return Buffer.byteLength(index) > MAX_INDEX_NAME_BYTES ? BAD_INDEX : undefined;
}

function addDocument(
  documents: DocumentEntries,
  start: number,
  end: number,
  { index, labels }: KnownAction,
): BulkFailure | undefined {
  const failure = documents.add(start, end, index, labels);
  return failure && FAILURES[failure];
}

function readAction(
  bytes: Buffer,
  start: number,
  end: number,
  lineNumber: number,
  defaultIndex: string,
): BulkAction & { labels: readonly Label[] } {
  const value = end - start > MAX_ACTION_BYTES ? undefined : parseObject(bytes.utf8Slice(start, end));
  const [operation, ...others] = Object.keys(value ?? {});
  const details = value?.[operation];
  if (others.length > 0 || !isOperation(operation) || !isObject(details)) {
    throw new BadRequestError(
      `Malformed action/metadata line [${lineNumber}], expected one of [create, delete, index, update] with an object`,
    );
  }
  const index = textOf(details._index) || defaultIndex;
  if (index === '') throw new BadRequestError(`Validation Failed: ${lineNumber}: index is missing;`);
  const labels = [{ name: 'index', value: index.replace(DATE_SUFFIX, '') || index }];
  return { operation, index, id: textOf(details._id), labels };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOperation(name: string): name is BulkOperation {
  return (BULK_OPERATIONS as readonly string[]).includes(name);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}
