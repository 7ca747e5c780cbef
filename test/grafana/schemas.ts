/**
 * Fields of responses that Grafana's Loki data source and Logs Drilldown read: their documented types as
 * schemas. Fields that they do not read are not here, and can be anything.
 *
 * Pitfall: the data source reads query responses as a stream of tokens, so the order of keys matters.
 * `resultType` and `encodingFlags` come before `result`; otherwise the flags come too late for the third
 * elements of values.
 */
import { z } from 'zod';

const labels = z.record(z.string(), z.string());
const seconds = z.number();
const nanoseconds = z.string().regex(/^[0-9]+$/);
const valueText = z
  .string()
  .refine(text => text !== '' && !Number.isNaN(Number(text.replace('Inf', 'Infinity'))));
const sample = z.tuple([seconds, valueText]);

/** Names of the statistics in the inspector, with their units in the reference. */
const statistics = z.object({
  summary: z.object({
    bytesProcessedPerSecond: z.int(),
    linesProcessedPerSecond: z.int(),
    totalBytesProcessed: z.int(),
    totalLinesProcessed: z.int(),
    execTime: z.number(),
  }),
  querier: z.object({ store: z.object({ chunk: z.object({ decompressedBytes: z.int() }) }) }),
  ingester: z.object({
    totalReached: z.int(),
    store: z.object({ chunk: z.object({ headChunkBytes: z.int() }) }),
  }),
});

/** The third element of a value under `categorize-labels`. */
const categories = z.object({ structuredMetadata: labels.optional(), parsed: labels.optional() }).strict();

const envelope = <T extends z.ZodType>(data: T) => z.object({ status: z.literal('success'), data });

export const categorizedStreams = envelope(
  z.object({
    resultType: z.literal('streams'),
    encodingFlags: z.tuple([z.literal('categorize-labels')]),
    result: z.array(
      z.object({ stream: labels, values: z.array(z.tuple([nanoseconds, z.string(), categories])) }),
    ),
    stats: statistics,
  }),
);

export const matrix = envelope(
  z.object({
    resultType: z.literal('matrix'),
    result: z.array(z.object({ metric: labels, values: z.array(sample).min(1) })),
    stats: statistics,
  }),
);

export const vector = envelope(
  z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: labels, value: sample })),
    stats: statistics,
  }),
);

/** Lists of names: the client takes a missing one for an empty one. */
export const names = z.object({ status: z.literal('success'), data: z.array(z.string()).optional() });

export const series = envelope(z.array(labels));

export const indexStats = z.object({
  streams: z.int().nonnegative(),
  chunks: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  entries: z.int().nonnegative(),
});

export const detectedLabels = z.object({
  detectedLabels: z.array(z.object({ label: z.string().min(1), cardinality: z.int().positive() })).optional(),
});

export const detectedFields = z.object({
  fields: z
    .array(
      z.object({
        label: z.string().min(1),
        type: z.enum(['string', 'int', 'float', 'boolean', 'duration', 'bytes']),
        cardinality: z.int().positive(),
        /** Null or empty: structured metadata. */
        parsers: z.array(z.enum(['json', 'logfmt'])).nullable(),
        jsonPath: z.array(z.string()).min(1).optional(),
      }),
    )
    .optional(),
  limit: z.int().optional(),
});

export const detectedValues = z.object({ values: z.array(z.string()).optional(), limit: z.int().optional() });

export const patterns = envelope(
  z.array(
    z.object({
      pattern: z.string(),
      level: z.string(),
      samples: z.array(z.tuple([z.int(), z.int()])),
    }),
  ),
);

/** Durations are texts. The app hides its patterns tab if the flag is false. */
export const drilldownLimits = z.object({
  limits: z.object({
    discover_log_levels: z.boolean(),
    discover_service_name: z.array(z.string()),
    log_level_fields: z.array(z.string()),
    max_entries_limit_per_query: z.int(),
    max_query_length: z.string().regex(/^[0-9.a-zµ]+$/),
    max_query_series: z.int(),
    query_timeout: z.string(),
    retention_period: z.string(),
    volume_enabled: z.boolean(),
    volume_max_series: z.int(),
  }),
  pattern_ingester_enabled: z.boolean(),
  version: z.string(),
});

export const buildInfo = z.object({
  version: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+/),
  revision: z.string(),
});
