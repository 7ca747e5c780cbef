/** Answers of log queries made of plain entries: what fields and values are detected in. */

import { formatLabels, labelsOf } from '../../../shared/base/model/labels.ts';
import { detectFields } from '../../../shared/read/insight/detected/detect-fields.ts';
import { detectValues } from '../../../shared/read/insight/detected/detect-values.ts';
import type { DetectedField } from '../../../shared/read/insight/detected/field-table.ts';
import type { LogStream } from '../../../shared/read/query/log-query.ts';

export type Texts = Readonly<Record<string, string>>;

interface PlainEntry {
  readonly line: string;
  readonly metadata?: Texts;
  readonly parsed?: Texts;
}

export function streamOf(entries: readonly (PlainEntry | string)[], labels: Texts = { app: 'x' }): LogStream {
  const stream = labelsOf(labels);
  return {
    labels: stream,
    text: formatLabels(stream),
    entries: entries.map((given, i) => {
      const { line, metadata = {}, parsed = {} } = typeof given === 'string' ? { line: given } : given;
      const [structuredMetadata, parsedLabels] = [labelsOf(metadata), labelsOf(parsed)];
      return { timeNs: BigInt(-i), line, structuredMetadata, parsed: parsedLabels };
    }),
  };
}

const { signal } = new AbortController();

/** Detected fields by name. */
export async function fieldsOf(
  streams: readonly LogStream[],
  limit = 1000,
): Promise<Record<string, DetectedField>> {
  const { fields } = await detectFields(streams, { limit, signal });
  return Object.fromEntries(fields.map(field => [field.label, field]));
}

export async function valuesOf(
  streams: readonly LogStream[],
  name: string,
  limit = 1000,
): Promise<readonly string[]> {
  return (await detectValues(streams, name, { limit, signal })).values;
}
