/** Schemas of JSON responses to queries, and to requests for labels, series, volumes and statistics. */
import {
  BOOLEAN,
  COUNT,
  LABELS,
  list,
  map,
  NULL,
  NUMBER,
  object,
  oneOfTexts,
  RFC3339,
  ref,
  SAMPLE,
  type Schema,
  STRING,
  STRINGS,
  success,
} from './schema-parts.ts';

const CATEGORIES = object({}, { structuredMetadata: LABELS, parsed: LABELS });
const ENTRY: Schema = {
  description:
    'timestamp in Unix nanoseconds, line, and, with the encoding flag `categorize-labels`, its labels',
  type: 'array',
  prefixItems: [{ type: 'string', pattern: '^-?[0-9]+$' }, STRING, CATEGORIES],
  items: false,
  minItems: 2,
};
const STREAMS = list(object({ stream: LABELS, values: list(ENTRY) }));
const VECTOR = list(object({ metric: LABELS, value: SAMPLE }));
const MATRIX = list(object({ metric: LABELS, values: list(SAMPLE) }));

function result(resultType: string, value: Schema, more: Readonly<Record<string, Schema>> = {}): Schema {
  return object(
    { resultType: { const: resultType }, result: value, stats: ref('Statistics') },
    { explain: ref('Explain'), ...more },
  );
}

const ROUNDS = list(
  object(
    {
      startMs: NUMBER,
      ms: NUMBER,
      reads: map(object({ requests: COUNT, bytes: COUNT })),
      waitedFor: STRING,
    },
    { connectionMs: NUMBER },
  ),
);
const PRUNED_PAGES = object({
  considered: COUNT,
  prunedByStreams: COUNT,
  prunedByText: COUNT,
  prunedByValues: COUNT,
  answeredByFooters: COUNT,
  read: COUNT,
});

export const QUERY_SCHEMAS = {
  QueryResult: success({
    oneOf: [
      result('streams', STREAMS, { encodingFlags: STRINGS }),
      result('matrix', MATRIX),
      result('vector', VECTOR),
      result('scalar', SAMPLE),
    ],
  }),
  Statistics: {
    description:
      'Statistics of the query in the groups of Loki. Groups without a counterpart in Logboom are zero.',
    type: 'object',
    required: ['summary', 'querier', 'ingester'],
    properties: {
      summary: {
        type: 'object',
        required: ['totalBytesProcessed', 'totalLinesProcessed', 'execTime', 'totalEntriesReturned'],
        additionalProperties: NUMBER,
      },
      querier: { type: 'object', additionalProperties: true },
      ingester: { type: 'object', additionalProperties: true },
    },
    additionalProperties: true,
  },
  Explain: object(
    {
      chunks: object({ considered: COUNT, prunedByLabels: COUNT, prunedByStreams: COUNT, read: COUNT }),
      pages: PRUNED_PAGES,
      bytes: PRUNED_PAGES,
      textFilters: object({ reads: COUNT, bytes: COUNT }),
      ranIn: STRING,
    },
    {
      rounds: ROUNDS,
      parts: list(object({ ranIn: STRING, startMs: NUMBER, ms: NUMBER, bytes: COUNT, rounds: ROUNDS })),
      tasks: map(COUNT),
    },
  ),
  Names: object({ status: { const: 'success' } }, { data: STRINGS, warnings: STRINGS }),
  LegacyNames: object(
    { status: { const: 'success' }, values: STRINGS },
    { data: STRINGS, warnings: STRINGS },
  ),
  Series: success(list(LABELS)),
  IndexStats: object({ streams: COUNT, chunks: COUNT, bytes: COUNT, entries: COUNT }, { warnings: STRINGS }),
  Shards: object(
    {
      shards: list(object({ bounds: object({ min: NUMBER, max: NUMBER }), stats: ref('IndexStats') })),
      statistics: ref('Statistics'),
      /** Always one group without references, because there is one shard. */
      chunkGroups: list(object({ refs: list({ type: 'object', additionalProperties: true }) })),
    },
    { warnings: STRINGS },
  ),
  Volume: success({ oneOf: [result('vector', VECTOR), result('matrix', MATRIX)] }),
  DetectedLabels: object(
    {},
    { detectedLabels: list(object({ label: STRING, cardinality: COUNT })), warnings: STRINGS },
  ),
  DetectedFields: object(
    {},
    {
      fields: list(
        object(
          {
            label: STRING,
            type: oneOfTexts('string', 'int', 'float', 'boolean', 'duration', 'bytes'),
            cardinality: COUNT,
            parsers: { oneOf: [NULL, list(oneOfTexts('json', 'logfmt'))] },
          },
          { jsonPath: STRINGS },
        ),
      ),
      limit: COUNT,
      warnings: STRINGS,
    },
  ),
  DetectedValues: object({}, { values: STRINGS, limit: COUNT, warnings: STRINGS }),
  Patterns: success(
    list(
      object({
        pattern: STRING,
        level: STRING,
        samples: list({ type: 'array', prefixItems: [COUNT, COUNT], items: false, minItems: 2 }),
      }),
    ),
  ),
  DrilldownLimits: object({
    limits: { type: 'object', additionalProperties: true },
    pattern_ingester_enabled: BOOLEAN,
    version: STRING,
  }),
  FormattedQuery: success(STRING),
  Usage: success(
    object({
      tenant: STRING,
      currency: STRING,
      stored_bytes_complete: BOOLEAN,
      days: list(
        object({
          day: { type: 'string', format: 'date' },
          pushes: COUNT,
          lines: COUNT,
          bytes: COUNT,
          structured_metadata_bytes: COUNT,
          streams: COUNT,
          refused: map(object({ lines: COUNT, bytes: COUNT })),
          queries: COUNT,
          query_bytes: COUNT,
          query_seconds: NUMBER,
          stored_bytes: COUNT,
          cost: object({ ingest: NUMBER, storage: NUMBER, queries: NUMBER, total: NUMBER }),
        }),
      ),
    }),
  ),
  LegacyResult: object({
    streams: list(object({ labels: STRING, entries: list(object({ ts: RFC3339, line: STRING })) })),
    stats: ref('Statistics'),
  }),
} as const satisfies Readonly<Record<string, Schema>>;
