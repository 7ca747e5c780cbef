/** Requests what is known about streams, and formats them as tables: labels, series, sizes, patterns and fields. */
import { formatByteSize } from '../../shared/base/model/byte-size.ts';
import type { LabelObject } from './answer-text.ts';
import { groupedText } from './count-text.ts';
import { fetchJson } from './json-client.ts';
import { type PrintedSeries, readSeries, readVector } from './range-query.ts';
import type { StoreFlags } from './store-client.ts';
import type { Cell, TextColumn, TextTable } from './table-text.ts';
import type { NsRange } from './time-text.ts';

const ROOT = '/loki/api/v1';

/** Readable sizes in aligned tables; CSV and JSON have the number. */
const BYTES: Pick<TextColumn, 'align' | 'show'> = {
  align: 'right',
  show: (value: Cell) => formatByteSize(Number(value)),
};
const COUNT: Pick<TextColumn, 'align' | 'show'> = {
  align: 'right',
  show: (value: Cell) => (value === null ? '' : groupedText(Number(value))),
};

interface ListingRequest {
  readonly range: NsRange;
  /** Selector, or a log query if the endpoint accepts one. */
  readonly query?: string;
  readonly limit?: number;
}

function paramsOf({ range, query, limit }: ListingRequest): URLSearchParams {
  const params = new URLSearchParams({ start: `${range.startNs}`, end: `${range.endNs}` });
  if (query !== undefined) params.set('query', query);
  if (limit !== undefined) params.set('limit', `${limit}`);
  return params;
}

interface ListResponse<T> {
  /** Absent if there is no data. */
  readonly data?: readonly T[];
}

/** Label names, or the values of one label. */
export function fetchLabels(store: StoreFlags, question: ListingRequest, name?: string): Promise<TextTable> {
  const path = name === undefined ? `${ROOT}/labels` : `${ROOT}/label/${encodeURIComponent(name)}/values`;
  return fetchJson(store, {
    path,
    params: paramsOf(question),
    read: body => ({
      columns: [{ name: name === undefined ? 'label' : 'value' }],
      rows: ((body as ListResponse<string>).data ?? []).map(each => [each]),
    }),
  });
}

export function fetchSeries(
  store: StoreFlags,
  { range }: ListingRequest,
  selectors: readonly string[],
): Promise<readonly LabelObject[]> {
  const params = paramsOf({ range });
  for (const selector of selectors) params.append('match[]', selector);
  return fetchJson(store, {
    path: `${ROOT}/series`,
    params,
    read: body => (body as ListResponse<LabelObject>).data ?? [],
  });
}

export async function fetchStats(store: StoreFlags, question: ListingRequest): Promise<TextTable> {
  return fetchJson(store, {
    path: `${ROOT}/index/stats`,
    params: paramsOf(question),
    read: body => {
      const { streams, chunks, entries, bytes } = body as Record<string, number>;
      return {
        columns: [
          { name: 'streams', ...COUNT },
          { name: 'chunks', ...COUNT },
          { name: 'entries', ...COUNT },
          { name: 'bytes', ...BYTES },
        ],
        rows: [[streams, chunks, entries, bytes]],
      };
    },
  });
}

interface VolumeRequest extends ListingRequest {
  readonly targetLabels?: string;
  readonly aggregateBy?: string;
  /** Step as typed; selects a range query. */
  readonly step?: string;
}

/** Bytes of each group, over the range or per step. */
export function fetchVolume(
  store: StoreFlags,
  question: VolumeRequest,
  ofRange: boolean,
): Promise<readonly PrintedSeries[]> {
  const params = paramsOf(question);
  const { targetLabels, aggregateBy, step } = question;
  if (targetLabels !== undefined) params.set('targetLabels', targetLabels);
  if (aggregateBy !== undefined) params.set('aggregateBy', aggregateBy);
  if (step !== undefined) params.set('step', step);
  return fetchJson(store, {
    path: `${ROOT}/index/${ofRange ? 'volume_range' : 'volume'}`,
    params,
    read: body => {
      const { resultType, result } = (body as { data: { resultType: string; result: never } }).data;
      return resultType === 'vector' ? readVector(result) : readSeries(result);
    },
  });
}

interface PatternJson {
  readonly pattern: string;
  readonly level?: string;
  readonly samples: readonly (readonly [number, number])[];
}

/** Patterns, most frequent first. */
export function fetchPatterns(store: StoreFlags, question: ListingRequest): Promise<TextTable> {
  return fetchJson(store, {
    path: `${ROOT}/patterns`,
    params: paramsOf(question),
    read: body => ({
      columns: [{ name: 'count', ...COUNT }, { name: 'level' }, { name: 'pattern' }],
      rows: ((body as ListResponse<PatternJson>).data ?? [])
        .map(({ pattern, level, samples }): [number, string | null, string] => [
          samples.reduce((sum, [, count]) => sum + count, 0),
          level ?? null,
          pattern,
        ])
        .sort(([a], [b]) => b - a),
    }),
  });
}

interface FieldJson {
  readonly label: string;
  readonly type: string;
  readonly cardinality?: number;
  readonly parsers: readonly string[] | null;
}

interface FieldsRequest extends ListingRequest {
  readonly lineLimit?: number;
}

/** Fields of the newest lines, or the values of one field. */
export function fetchFields(store: StoreFlags, question: FieldsRequest, name?: string): Promise<TextTable> {
  const params = paramsOf(question);
  if (question.lineLimit !== undefined) params.set('line_limit', `${question.lineLimit}`);
  if (name !== undefined) {
    return fetchJson(store, {
      path: `${ROOT}/detected_field/${encodeURIComponent(name)}/values`,
      params,
      read: body => ({
        columns: [{ name: 'value' }],
        rows: ((body as { values?: readonly string[] }).values ?? []).map(value => [value]),
      }),
    });
  }
  return fetchJson(store, {
    path: `${ROOT}/detected_fields`,
    params,
    read: body => ({
      columns: [{ name: 'field' }, { name: 'type' }, { name: 'values', ...COUNT }, { name: 'parser' }],
      rows: ((body as { fields?: readonly FieldJson[] }).fields ?? []).map(
        ({ label, type, cardinality = 0, parsers }) => [
          label,
          type,
          cardinality,
          parsers === null || parsers.length === 0 ? 'metadata' : parsers.join(' '),
        ],
      ),
    }),
  });
}

/** Table with a row for each group of a volume, largest first. */
/** @param byLabels each series has the name of a label, without a value */
export function volumeTable(series: readonly PrintedSeries[], byLabels = false): TextTable {
  if (byLabels) {
    const sums = series.map(({ labels, samples }): Cell[] => [
      Object.keys(labels).join(', '),
      samples.reduce((sum, { value }) => sum + Number(value), 0),
    ]);
    return { columns: [{ name: 'label' }, { name: 'bytes', ...BYTES }], rows: sums.sort(bySize) };
  }
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].sort();
  const rows = series.map(({ labels, samples }): Cell[] => [
    ...names.map(name => labels[name] ?? null),
    samples.reduce((sum, { value }) => sum + Number(value), 0),
  ]);
  return {
    columns: [...names.map(name => ({ name })), { name: 'bytes', ...BYTES }],
    rows: rows.sort(bySize),
  };
}

/** Largest first. */
function bySize(a: readonly Cell[], b: readonly Cell[]): number {
  return Number(b.at(-1)) - Number(a.at(-1));
}
