/**
 * The section `limits_config`: names of the tenant limits, which overrides use too, and the purpose of each.
 * Their structure and defaults are in shared/base/model/limits.ts.
 */
import { DELETION_MODES, INGESTION_RATE_STRATEGIES, type Limits } from '../../base/model/limits.ts';
import {
  BLOCKED_QUERIES,
  BYTES,
  type ConfigFields,
  count,
  DECIMAL,
  DURATION_NS,
  FLAG,
  oneOf,
  TEXT,
  TEXTS,
  whole,
} from './config-kinds.ts';
import {
  GENERIC_FIELDS,
  LIMIT_TIME,
  LIMIT_TIMES,
  POLICY_SELECTORS,
  SETTINGS,
  STREAM_RETENTION,
  TEXT_LISTS,
} from './config-limits-kinds.ts';
import { OTLP_CONFIG } from './config-otlp.ts';

export const LIMIT_FIELDS: ConfigFields<Limits> = {
  maxLabelNameLength: {
    name: 'max_label_name_length',
    kind: count,
    unit: 'bytes',
    about: 'maximum length of a label name',
  },
  maxLabelValueLength: {
    name: 'max_label_value_length',
    kind: count,
    unit: 'bytes',
    about: 'maximum length of a label value',
  },
  maxLabelNamesPerSeries: {
    name: 'max_label_names_per_series',
    kind: count,
    about: 'maximum number of labels of a stream, without `service_name`',
  },
  rejectOldSamples: { name: 'reject_old_samples', kind: FLAG, about: 'refuse old entries' },
  rejectOldSamplesMaxAgeNs: {
    name: 'reject_old_samples_max_age',
    kind: DURATION_NS,
    about: 'age from which an entry is old',
  },
  creationGracePeriodNs: {
    name: 'creation_grace_period',
    kind: DURATION_NS,
    about: 'maximum time that an entry can be in the future',
  },
  maxLineSize: { name: 'max_line_size', kind: BYTES, about: 'maximum length of a line; 0 is off' },
  maxLineSizeTruncate: {
    name: 'max_line_size_truncate',
    kind: FLAG,
    about: 'truncate longer lines instead of refusing them',
  },
  maxLineSizeTruncateIdentifier: {
    name: 'max_line_size_truncate_identifier',
    kind: TEXT,
    about: 'text that replaces the last bytes of a truncated line',
  },
  incrementDuplicateTimestamp: {
    name: 'increment_duplicate_timestamp',
    kind: FLAG,
    about:
      'if an entry has the timestamp of the previous entry of its stream in the push, and another line, increase it by 1 ns',
  },
  discoverServiceName: {
    name: 'discover_service_name',
    kind: TEXTS,
    about:
      'labels of which the first one that a stream has becomes its `service_name`; without any, `unknown_service`. An empty list is off',
  },
  discoverLogLevels: {
    name: 'discover_log_levels',
    kind: FLAG,
    about: 'add `detected_level` to the structured metadata of each entry',
  },
  logLevelFields: {
    name: 'log_level_fields',
    kind: TEXTS,
    about: 'fields that can contain the level; an empty list is the default',
  },
  logLevelFromJsonMaxDepth: {
    name: 'log_level_from_json_max_depth',
    kind: whole(-1),
    about: 'maximum depth of these fields in JSON lines; -1 is no limit',
  },
  allowStructuredMetadata: {
    name: 'allow_structured_metadata',
    kind: FLAG,
    about: 'accept structured metadata',
  },
  maxStructuredMetadataSize: {
    name: 'max_structured_metadata_size',
    kind: BYTES,
    about: 'maximum size of the structured metadata of an entry, names and values; 0 is off',
  },
  maxStructuredMetadataEntriesCount: {
    name: 'max_structured_metadata_entries_count',
    kind: count,
    about: 'maximum number of structured-metadata pairs of an entry; 0 is off',
  },
  otlpConfig: {
    name: 'otlp_config',
    kind: OTLP_CONFIG,
    about:
      'store attributes of OTLP as labels or structured metadata, or drop them ([OTLP mapping](otlp.md#change-the-mapping)); up to 200 rules in a list',
  },
  enforcedLabels: { name: 'enforced_labels', kind: TEXTS, about: 'labels that every stream must have' },
  policyEnforcedLabels: {
    name: 'policy_enforced_labels',
    kind: TEXT_LISTS,
    about: 'labels that streams of a policy must have, `{policy: [label]}`; `"*"` is every stream',
  },
  policyStreamMapping: {
    name: 'policy_stream_mapping',
    kind: POLICY_SELECTORS,
    about:
      'policies of streams, `{policy: [{selector, priority}]}`; the matching policy with the highest priority applies, then the first by name',
  },
  blockIngestionUntil: {
    name: 'block_ingestion_until',
    kind: LIMIT_TIME,
    about: 'time until which pushes are refused',
  },
  blockIngestionPolicyUntil: {
    name: 'block_ingestion_policy_until',
    kind: LIMIT_TIMES,
    about: 'the same by policy, `{policy: time}`; `"*"` is streams without a policy',
  },
  blockIngestionStatusCode: {
    name: 'block_ingestion_status_code',
    kind: whole(200, 599),
    about: 'status for blocked pushes; with 200, Logboom drops them and responds with 204',
  },
  discoverGenericFields: {
    name: 'discover_generic_fields',
    kind: GENERIC_FIELDS,
    about:
      'structured metadata from a label, other metadata, or a field of a JSON or logfmt line: `{fields: {name: [source]}}`',
  },
  unorderedWrites: {
    name: 'unordered_writes',
    kind: FLAG,
    about: 'accepted without effect: entries can arrive in any order',
  },
  shardStreams: {
    name: 'shard_streams',
    kind: SETTINGS,
    about: 'accepted without effect: Logboom does not need to divide streams',
  },
  ingestionRateStrategy: {
    name: 'ingestion_rate_strategy',
    kind: oneOf(INGESTION_RATE_STRATEGIES),
    about: "`global`: all processes share the tenant's rate; `local`: each process grants the whole rate",
  },
  ingestionRateMb: {
    name: 'ingestion_rate_mb',
    kind: DECIMAL,
    unit: 'MiB/s',
    about: 'rate limit of a tenant in MiB/s, lines and structured metadata; fractions are allowed',
  },
  ingestionBurstSizeMb: {
    name: 'ingestion_burst_size_mb',
    kind: DECIMAL,
    unit: 'MiB',
    about: 'burst of a tenant in MiB; larger pushes are always refused',
  },
  maxStreamsPerUser: {
    name: 'max_streams_per_user',
    kind: count,
    about: 'maximum number of active streams of a tenant in one process; 0 is off',
  },
  maxGlobalStreamsPerUser: {
    name: 'max_global_streams_per_user',
    kind: count,
    about: 'maximum number of active streams of a tenant; 0 is off',
  },
  perStreamRateLimit: {
    name: 'per_stream_rate_limit',
    kind: BYTES,
    about: 'rate limit of a stream, per second',
  },
  perStreamRateLimitBurst: {
    name: 'per_stream_rate_limit_burst',
    kind: BYTES,
    about: 'burst of a stream',
  },
  maxEntriesLimitPerQuery: {
    name: 'max_entries_limit_per_query',
    kind: count,
    about: 'maximum `limit` of a log query; 0 is off',
  },
  maxQuerySeries: {
    name: 'max_query_series',
    kind: count,
    about: 'maximum number of series in the response to a metric query; 0 is off',
  },
  maxQueryParallelism: {
    name: 'max_query_parallelism',
    kind: count,
    about: 'maximum number of tasks of a query at a time; 0 refuses every query with 429',
  },
  maxQueryLengthNs: {
    name: 'max_query_length',
    kind: DURATION_NS,
    about: 'maximum time range of a query; 0 is off',
  },
  maxQueryLookbackNs: {
    name: 'max_query_lookback',
    kind: DURATION_NS,
    about: 'maximum age of data that queries return; older ranges are cut without an error; 0 is off',
  },
  maxQueryRangeNs: {
    name: 'max_query_range',
    kind: DURATION_NS,
    about: 'maximum `[range]` of an aggregation; 0 is off',
  },
  maxStreamsMatchersPerQuery: {
    name: 'max_streams_matchers_per_query',
    kind: count,
    about: 'maximum number of matchers in a selector; 0 is off',
  },
  requiredLabels: { name: 'required_labels', kind: TEXTS, about: 'labels that every selector must name' },
  minimumLabelsNumber: {
    name: 'minimum_labels_number',
    kind: count,
    about: 'minimum number of matchers in a selector',
  },
  maxQueryBytesRead: {
    name: 'max_query_bytes_read',
    kind: BYTES,
    about: 'maximum size of lines and structured metadata that a query can read; 0 is off',
  },
  maxQuerierBytesRead: {
    name: 'max_querier_bytes_read',
    kind: BYTES,
    about: 'maximum size of lines that a query reads on one machine; 0 is off',
  },
  blockedQueries: {
    name: 'blocked_queries',
    kind: BLOCKED_QUERIES,
    about: 'queries to refuse with 400, `{pattern, regex, hash, types, query_tags}`; the first match applies',
  },
  queryTimeoutNs: {
    name: 'query_timeout',
    kind: DURATION_NS,
    about: 'timeout of a query, which then gets 504; 0 is off',
  },
  schedulingWeight: {
    name: 'scheduling_weight',
    kind: DECIMAL,
    about: 'share of CPU time relative to other tenants on the same thread; at least 0.01',
  },
  volumeEnabled: {
    name: 'volume_enabled',
    kind: FLAG,
    about: 'serve `index/volume` and `index/volume_range`; off: 404',
  },
  volumeMaxSeries: {
    name: 'volume_max_series',
    kind: count,
    about: 'maximum number of series in a volume, before `limit` applies; 0 is 100,000',
  },
  maxConcurrentTailRequests: {
    name: 'max_concurrent_tail_requests',
    kind: count,
    about: 'maximum number of live tails of a tenant; 0 is no limit',
  },
  deletionMode: {
    name: 'deletion_mode',
    kind: oneOf(DELETION_MODES),
    about:
      '`filter-only` hides entries of delete requests and keeps them stored; `disabled` refuses delete requests with 403',
  },
  retentionPeriodNs: {
    name: 'retention_period',
    kind: DURATION_NS,
    about: 'age at which entries expire: they are hidden at once and deleted later; 0 keeps them',
  },
  retentionStream: {
    name: 'retention_stream',
    kind: STREAM_RETENTION,
    about:
      'streams with another period, `{selector, priority, period}`, at least `24h`; the match with the highest priority applies',
  },
  rulerMaxRulesPerRuleGroup: {
    name: 'ruler_max_rules_per_rule_group',
    kind: count,
    about: 'maximum number of rules in a group; 0 is off',
  },
  rulerMaxRuleGroupsPerTenant: {
    name: 'ruler_max_rule_groups_per_tenant',
    kind: count,
    about: 'maximum number of rule groups of a tenant; 0 is off',
  },
  rulerRemoteWriteDisabled: {
    name: 'ruler_remote_write_disabled',
    kind: FLAG,
    about: "discard the series of the tenant's recording rules",
  },
};
