/**
 * The section `limits_config`: the names of the limits of tenants, which overrides use too, and what each is for. Their
 * shape and defaults are in shared/base/model/limits.ts.
 */
import { DELETION_MODES, INGESTION_RATE_STRATEGIES, type Limits } from '../../base/model/limits.ts';
import {
  blockedQueries,
  bytes,
  count,
  decimal,
  durationNs,
  type Fields,
  flag,
  oneOf,
  text,
  texts,
  whole,
} from './config-kinds.ts';
import {
  genericFields,
  policySelectors,
  settings,
  streamRetention,
  textLists,
  time,
  times,
} from './config-limits-kinds.ts';
import { otlpConfig } from './config-otlp.ts';

export const LIMIT_FIELDS: Fields<Limits> = {
  maxLabelNameLength: {
    name: 'max_label_name_length',
    kind: count,
    unit: 'bytes',
    about: 'longest name of a label of a stream',
  },
  maxLabelValueLength: {
    name: 'max_label_value_length',
    kind: count,
    unit: 'bytes',
    about: 'longest value of a label of a stream',
  },
  maxLabelNamesPerSeries: {
    name: 'max_label_names_per_series',
    kind: count,
    about: 'labels of a stream; `service_name` is not counted',
  },
  rejectOldSamples: { name: 'reject_old_samples', kind: flag, about: 'whether old entries are refused' },
  rejectOldSamplesMaxAgeNs: { name: 'reject_old_samples_max_age', kind: durationNs, about: 'what is old' },
  creationGracePeriodNs: {
    name: 'creation_grace_period',
    kind: durationNs,
    about: 'how far in the future an entry may lie',
  },
  maxLineSize: { name: 'max_line_size', kind: bytes, about: '0 is off' },
  maxLineSizeTruncate: {
    name: 'max_line_size_truncate',
    kind: flag,
    about: 'cut longer lines rather than refuse them',
  },
  maxLineSizeTruncateIdentifier: {
    name: 'max_line_size_truncate_identifier',
    kind: text,
    about: 'text that takes the place of the last bytes of a cut line',
  },
  incrementDuplicateTimestamp: {
    name: 'increment_duplicate_timestamp',
    kind: flag,
    about:
      'an entry with the time of the one before it in its stream and push, but another line, is moved 1 ns behind it',
  },
  discoverServiceName: {
    name: 'discover_service_name',
    kind: texts,
    about:
      'labels: the first of them that a stream has becomes its `service_name`, else it is `unknown_service`; empty list: off',
  },
  discoverLogLevels: {
    name: 'discover_log_levels',
    kind: flag,
    about: 'add `detected_level` to the structured metadata of each entry',
  },
  logLevelFields: {
    name: 'log_level_fields',
    kind: texts,
    about: 'where the level is looked for; an empty list means the default',
  },
  logLevelFromJsonMaxDepth: {
    name: 'log_level_from_json_max_depth',
    kind: whole(-1),
    about: 'how many levels deep in JSON lines; -1 is no limit',
  },
  allowStructuredMetadata: {
    name: 'allow_structured_metadata',
    kind: flag,
    about: 'whether entries may carry it',
  },
  maxStructuredMetadataSize: {
    name: 'max_structured_metadata_size',
    kind: bytes,
    about: 'names and values of an entry; 0 is off',
  },
  maxStructuredMetadataEntriesCount: {
    name: 'max_structured_metadata_entries_count',
    kind: count,
    about: 'pairs of an entry; 0 is off',
  },
  otlpConfig: {
    name: 'otlp_config',
    kind: otlpConfig,
    about:
      'what becomes of the attributes of OTLP: label, metadata, or nothing ([otlp.md](otlp.md#otlp_config)); at most 200 rules of a list',
  },
  enforcedLabels: { name: 'enforced_labels', kind: texts, about: 'every stream must have them' },
  policyEnforcedLabels: {
    name: 'policy_enforced_labels',
    kind: textLists,
    about: '`{policy: [label]}`; `"*"` is for every stream',
  },
  policyStreamMapping: {
    name: 'policy_stream_mapping',
    kind: policySelectors,
    about:
      '`{policy: [{selector, priority}]}`; of the policies that match a stream the one with the highest priority is its own, of equal ones the first by name',
  },
  blockIngestionUntil: {
    name: 'block_ingestion_until',
    kind: time,
    about: 'a time; pushes are refused until then',
  },
  blockIngestionPolicyUntil: {
    name: 'block_ingestion_policy_until',
    kind: times,
    about: '`{policy: time}`; `"*"` is for streams of no policy',
  },
  blockIngestionStatusCode: {
    name: 'block_ingestion_status_code',
    kind: whole(200, 599),
    about: 'of the answer to what is blocked; 200 drops it and answers 204',
  },
  discoverGenericFields: {
    name: 'discover_generic_fields',
    kind: genericFields,
    about:
      '`{fields: {name: [where to look]}}`: structured metadata taken from a label, other metadata or a field of a JSON or logfmt line',
  },
  unorderedWrites: {
    name: 'unordered_writes',
    kind: flag,
    about: 'accepted, without effect: entries may come in any order',
  },
  shardStreams: {
    name: 'shard_streams',
    kind: settings,
    about: 'accepted, without effect: nothing is gained here by cutting a stream',
  },
  ingestionRateStrategy: {
    name: 'ingestion_rate_strategy',
    kind: oneOf(INGESTION_RATE_STRATEGIES),
    about:
      "`global`: the tenant's rate is shared by all processes; `local`: each process grants it by itself",
  },
  ingestionRateMb: {
    name: 'ingestion_rate_mb',
    kind: decimal,
    unit: 'MiB/s',
    about: 'MiB/s of lines and metadata of a tenant; may have a fraction',
  },
  ingestionBurstSizeMb: {
    name: 'ingestion_burst_size_mb',
    kind: decimal,
    unit: 'MiB',
    about: 'MiB at once; a larger push never passes',
  },
  maxStreamsPerUser: {
    name: 'max_streams_per_user',
    kind: count,
    about: 'active streams of a tenant in one process; 0 is off',
  },
  maxGlobalStreamsPerUser: {
    name: 'max_global_streams_per_user',
    kind: count,
    about: 'active streams of a tenant; 0 is off',
  },
  perStreamRateLimit: { name: 'per_stream_rate_limit', kind: bytes, about: 'a second, of one stream' },
  perStreamRateLimitBurst: {
    name: 'per_stream_rate_limit_burst',
    kind: bytes,
    about: 'at once, of one stream',
  },
  maxEntriesLimitPerQuery: {
    name: 'max_entries_limit_per_query',
    kind: count,
    about: 'largest `limit` of a log query; 0 is off',
  },
  maxQuerySeries: {
    name: 'max_query_series',
    kind: count,
    about: 'of the answer of a metric query; 0 is off',
  },
  maxQueryParallelism: {
    name: 'max_query_parallelism',
    kind: count,
    about: 'parts of one query that workers are at, or have waiting, at once; 0 answers every query 429',
  },
  maxQueryLengthNs: { name: 'max_query_length', kind: durationNs, about: 'largest time range; 0 is off' },
  maxQueryLookbackNs: {
    name: 'max_query_lookback',
    kind: durationNs,
    about: 'how far back queries see; older ranges are cut without an error; 0 is off',
  },
  maxQueryRangeNs: {
    name: 'max_query_range',
    kind: durationNs,
    about: 'largest `[range]` of an aggregation; 0 is off',
  },
  maxStreamsMatchersPerQuery: {
    name: 'max_streams_matchers_per_query',
    kind: count,
    about: 'matchers of one selector; 0 is off',
  },
  requiredLabels: { name: 'required_labels', kind: texts, about: 'a selector must name all of them' },
  minimumLabelsNumber: {
    name: 'minimum_labels_number',
    kind: count,
    about: 'a selector must have so many matchers',
  },
  maxQueryBytesRead: {
    name: 'max_query_bytes_read',
    kind: bytes,
    about: 'lines and metadata that one query may look at; 0 is off',
  },
  maxQuerierBytesRead: {
    name: 'max_querier_bytes_read',
    kind: bytes,
    about: 'most bytes of lines that a query reads on one machine; 0 is off',
  },
  blockedQueries: {
    name: 'blocked_queries',
    kind: blockedQueries,
    about:
      'queries refused with 400: `{pattern, regex, hash, types, query_tags}`; the first that fits decides',
  },
  queryTimeoutNs: { name: 'query_timeout', kind: durationNs, about: 'then 504; 0 is off' },
  schedulingWeight: {
    name: 'scheduling_weight',
    kind: decimal,
    about: 'share of CPU time relative to other tenants while several want the same thread; at least 0.01',
  },
  volumeEnabled: {
    name: 'volume_enabled',
    kind: flag,
    about: 'answer `index/volume` and `index/volume_range`; otherwise they are 404',
  },
  volumeMaxSeries: {
    name: 'volume_max_series',
    kind: count,
    about: 'of one of their answers, before `limit` takes the largest; 0 is 100,000',
  },
  maxConcurrentTailRequests: {
    name: 'max_concurrent_tail_requests',
    kind: count,
    about: 'live tails of a tenant; 0 is no limit',
  },
  deletionMode: {
    name: 'deletion_mode',
    kind: oneOf(DELETION_MODES),
    about: '`filter-only` hides what delete requests cover and keeps it stored; `disabled` answers them 403',
  },
  retentionPeriodNs: {
    name: 'retention_period',
    kind: durationNs,
    about: 'entries older than this are hidden at once and removed later; 0 keeps them',
  },
  retentionStream: {
    name: 'retention_stream',
    kind: streamRetention,
    about:
      'streams with a period of their own: `{selector, priority, period}`, at least `24h`; of those that match, the highest priority counts',
  },
  rulerMaxRulesPerRuleGroup: {
    name: 'ruler_max_rules_per_rule_group',
    kind: count,
    about: 'rules of one group; 0 is off',
  },
  rulerMaxRuleGroupsPerTenant: {
    name: 'ruler_max_rule_groups_per_tenant',
    kind: count,
    about: 'groups of a tenant; 0 is off',
  },
  rulerRemoteWriteDisabled: {
    name: 'ruler_remote_write_disabled',
    kind: flag,
    about: "discard the series that the tenant's rules make",
  },
};
