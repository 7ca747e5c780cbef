/**
 * Receives JSON lines, one document per line. As in every push, valid lines are stored and the client
 * receives an error for the others. The receiver of one request records them.
 */
import type { Label } from '../../../base/model/labels.ts';
import { PushColumns } from '../push-columns.ts';
import type { Receiver } from '../receiver.ts';
import { DocumentEntries, type DocumentFailure, MAX_DOCUMENT_BYTES } from './document-entries.ts';
import type { FieldOptions } from './field-options.ts';
import { isBlank, LineEnds, unpackText } from './text-body.ts';
import { validUtf8 } from './valid-utf8.ts';

interface JsonLinesReceiver extends Receiver {
  /** Describes the invalid lines after decoding. Undefined if all are valid. */
  failure(): string | undefined;
}

interface Failed {
  lines: number;
  firstLine: number;
}

const TEXTS: Readonly<Record<DocumentFailure, string>> = {
  'no-object': 'is not a JSON object',
  'bad-time': 'has an invalid time',
  'too-long': `exceeds ${MAX_DOCUMENT_BYTES} bytes`,
};
const NO_LABELS: readonly Label[] = [];
/** Bytes of the body decoded per step: a few tenths of a millisecond. A document is never split. */
const STEP_BYTES = 16 * 1024;

export function jsonLinesReceiver(fields: FieldOptions): JsonLinesReceiver {
  const failed = new Map<DocumentFailure, Failed>();
  return {
    format: 'json_lines',
    unpack: unpackText,
    *decode(body, context) {
      const bytes = yield* validUtf8(body);
      const columns = new PushColumns(bytes);
      const documents = yield* DocumentEntries.over(columns, fields, context);
      const ends = new LineEnds(bytes);
      let line = 0;
      let stop = STEP_BYTES;
      for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
        while ((end = ends.find(start)) < 0) yield;
        line++;
        if (end >= stop) {
          stop = end + STEP_BYTES;
          yield;
        }
        if (isBlank(bytes, start, end)) continue;
        const failure = documents.add(start, end, '', NO_LABELS);
        if (failure !== undefined) count(failed, failure, line);
      }
      return columns;
    },
    // A document without a time gets its arrival time.
    repeatable: false,
    failure: () =>
      failed.size === 0
        ? undefined
        : [...failed].map(([failure, found]) => failureText(TEXTS[failure], found)).join('; '),
  };
}

function count(failed: Map<DocumentFailure, Failed>, failure: DocumentFailure, line: number): void {
  const known = failed.get(failure);
  if (known === undefined) failed.set(failure, { lines: 1, firstLine: line });
  else known.lines++;
}

function failureText(what: string, { lines, firstLine }: Failed): string {
  const others = lines === 1 ? '' : ` (${lines} lines in all)`;
  return `line ${firstLine} ${what}${others}`;
}
