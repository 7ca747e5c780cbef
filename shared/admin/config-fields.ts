/**
 * The configuration: its shape, its names in the file (the reference's, in snake case) and the program's defaults.
 * A new value is a line in its interface, one in the table of names and one in the defaults; reading, checking and
 * printing follow from these.
 */
import { DEFAULT_LIMITS, DELETION_MODES, INGESTION_RATE_STRATEGIES, type Limits } from '../model/limits.ts';
import { DEFAULT_PRICES, type Prices } from '../usage/prices.ts';
import { prices } from '../usage/prices-kind.ts';
import {
  blockedQueries,
  bytes,
  count,
  decimal,
  durationMs,
  durationNs,
  type Fields,
  flag,
  oneOf,
  paths,
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
import { DEFAULT_RULER, RULER_FIELDS, type RulerConfig } from './config-ruler.ts';

import { TARGETS, type Target } from './targets.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const STORAGE_KINDS = ['files', 's3'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

export interface Config {
  readonly auth: AuthConfig;
  readonly server: ServerConfig;
  readonly distributor: DistributorConfig;
  readonly querier: QuerierConfig;
  readonly frontend: FrontendConfig;
  readonly compactor: CompactorConfig;
  readonly patternIngester: PatternIngesterConfig;
  readonly ruler: RulerConfig;
  readonly limits: Limits;
  readonly runtime: RuntimeConfig;
  readonly logboom: LogboomConfig;
}

/** Values at the top of the file. */
export interface AuthConfig {
  /** What this process is of the whole. */
  readonly target: Target;
  readonly authEnabled: boolean;
  readonly noAuthTenant: string;
}

export interface ServerConfig {
  /** Empty: all addresses. */
  readonly httpListenAddress: string;
  readonly httpListenPort: number;
  readonly logLevel: LogLevel;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly gracefulShutdownTimeoutMs: number;
}

export interface DistributorConfig {
  /** Largest push body as sent, bytes. */
  readonly maxRecvMsgSize: number;
  /** Largest push body after decompression, bytes; 0 is 50 times `maxRecvMsgSize` (see maxDecompressedBytes). */
  readonly maxDecompressedSize: number;
}

export interface QuerierConfig {
  /** Longest life of a live tail; 0 is no limit. */
  readonly tailMaxDurationMs: number;
  readonly multiTenantQueriesEnabled: boolean;
  /** Queries that a process works on at once; others wait, tenants in turns. */
  readonly maxConcurrent: number;
}

export interface FrontendConfig {
  readonly compressResponses: boolean;
  readonly supportParquetEncoding: boolean;
  /** Largest body of a request that is no push, bytes. */
  readonly maxBodySize: number;
  /** Queries of a tenant that wait for their turn; more are answered 429. */
  readonly maxOutstandingPerTenant: number;
}

/** Limits of single tenants, read again while the program runs (overrides.ts). */
export interface RuntimeConfig {
  /** Files; where two say something of the same limit, the later one counts. */
  readonly files: readonly string[];
  /** Key in the object store, for where there are no files; empty is none. It counts after the files. */
  readonly object: string;
  /** How often they are looked at; 0 is never again. */
  readonly periodMs: number;
}

export interface CompactorConfig {
  readonly compactionIntervalMs: number;
  /** Off: entries are kept whatever the limits say, and the API for deletes is not there. */
  readonly retentionEnabled: boolean;
  /** How long objects of expired entries stay after the last record that named them is gone. */
  readonly retentionDeleteDelayMs: number;
  /** A delete request is not worked on before this age. */
  readonly deleteRequestCancelPeriodMs: number;
  /** Requests of a tenant that are picked up at once, at most. */
  readonly deleteBatchSize: number;
  /** Longest part that a request is cut into. */
  readonly deleteMaxIntervalMs: number;
  /** No effect: requests lie in the catalog. Kept because the reference asks for it. */
  readonly deleteRequestStore: string;
}

export interface PatternIngesterConfig {
  /** Mine patterns where chunks are packed, and answer for them. */
  readonly enabled: boolean;
}

/** What only Logboom has. */
export interface LogboomConfig {
  /** Where chunks and catalog are kept: in `dataDir`, or in a bucket of S3 and a table of DynamoDB. */
  readonly storage: StorageKind;
  readonly dataDir: string;
  /** For `storage: s3`; empty where not given. */
  readonly s3Bucket: string;
  readonly dynamodbTable: string;
  /** Another place than AWS, for example an emulator; bucket and table are then made where they are missing. */
  readonly awsEndpoint: string;
  readonly awsRegion: string;
  /** Compressed pushes up to this many bytes are stored beside their catalog record, larger ones as objects. */
  readonly inlineMaxBytes: number;
  /** How long a push may wait for others to share one durable write with. */
  readonly groupCommitWaitMs: number;
  /** Requests that the gateway serves at once; more are answered 503. */
  readonly maxConcurrentRequests: number;
  /** WebSockets that the gateway holds at once; more are answered 503. */
  readonly maxWebSockets: number;
  /** The gateway speaks the management API of its WebSockets (`/@connections/{id}`), to programs of this machine. */
  readonly connectionsApi: boolean;
  /** Bytes of request bodies that the gateway holds at once; more are answered 503. */
  readonly maxBufferedBodyBytes: number;
  /** Threads that scan for queries; -1 is one less than there are cores, at most 8; 0 is none. One machine only. */
  readonly queryWorkers: number;
  /** What all queries of a process may hold in memory; more are answered 429. */
  readonly queryMemoryBytes: number;
  /** Answers of workers to parts of metric queries that are kept, bytes; 0 keeps none. */
  readonly queryResultCacheBytes: number;
  /** Pages that queries come back to, unpacked: bytes of one thread. */
  readonly pageCacheBytes: number;
  /** Stored bytes of a well-packed chunk. */
  readonly compactionTargetBytes: number;
  /** A run of a scheduled job begins nothing new after this time; the next one goes on. */
  readonly maintenanceRunMs: number;
  /** How long objects stay after the last record that named them is gone; longer than any query. */
  readonly objectGraceMs: number;
  /** How often objects whose time has come are deleted. */
  readonly collectionIntervalMs: number;
  /** Keep an index object for each tenant and day. */
  readonly indexSync: boolean;
  readonly indexSyncIntervalMs: number;
  /** Requests of Firehose without a tenant header may name the tenant in their common attributes (docs/inlets.md). */
  readonly firehoseTenantAttribute: boolean;
  /** For the estimated cost in `/svc/api/v1/usage`. */
  readonly prices: Prices;
  /** What the prices are in; a name to show. */
  readonly currency: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_CONFIG: Config = Object.freeze({
  auth: { target: 'all', authEnabled: true, noAuthTenant: 'fake' },
  server: {
    httpListenAddress: '',
    httpListenPort: 3100,
    logLevel: 'info',
    readTimeoutMs: 30_000,
    writeTimeoutMs: 30_000,
    idleTimeoutMs: 120_000,
    gracefulShutdownTimeoutMs: 30_000,
  },
  distributor: { maxRecvMsgSize: 100 * MIB, maxDecompressedSize: 0 },
  // The reference works on 4 parts of queries at once. More queries at once end no sooner, and each holds its plan and its pages.
  querier: { tailMaxDurationMs: 3_600_000, multiTenantQueriesEnabled: false, maxConcurrent: 32 },
  frontend: {
    compressResponses: true,
    supportParquetEncoding: true,
    maxBodySize: 10 * MIB,
    maxOutstandingPerTenant: 2048,
  },
  // The reference's is 10m; here small pushes cost every query until they are packed.
  compactor: {
    compactionIntervalMs: 60_000,
    // The reference's is off; without a period and without requests it does nothing.
    retentionEnabled: true,
    retentionDeleteDelayMs: 7_200_000,
    deleteRequestCancelPeriodMs: 86_400_000,
    deleteBatchSize: 70,
    deleteMaxIntervalMs: 86_400_000,
    deleteRequestStore: '',
  },
  patternIngester: { enabled: false },
  ruler: DEFAULT_RULER,
  limits: DEFAULT_LIMITS,
  runtime: { files: [], object: '', periodMs: 10_000 },
  logboom: {
    storage: 'files',
    dataDir: './data',
    s3Bucket: '',
    dynamodbTable: '',
    awsEndpoint: '',
    awsRegion: '',
    // Where the write units of an item and of its deletion cost as much as one object put and get (docs/cost.md).
    inlineMaxBytes: 4 * KIB,
    groupCommitWaitMs: 2,
    maxConcurrentRequests: 1024,
    maxWebSockets: 1000,
    connectionsApi: false,
    // Five of the largest pushes at once.
    maxBufferedBodyBytes: 512 * MIB,
    queryWorkers: -1,
    // Two of the largest, or a hundred usual ones.
    queryMemoryBytes: 1024 * MIB,
    // Some thousand answers of 20 series and an hour of minutes each.
    queryResultCacheBytes: 32 * MIB,
    // The pages of a dashboard or two: an hour of 1 GB a day is 40 MB. What a query reads above it is unpacked each time.
    pageCacheBytes: 192 * MIB,
    compactionTargetBytes: 128 * MIB,
    maintenanceRunMs: 300_000,
    // Ten times the default deadline of a query.
    objectGraceMs: 600_000,
    collectionIntervalMs: 300_000,
    indexSync: true,
    indexSyncIntervalMs: 300_000,
    firehoseTenantAttribute: false,
    prices: DEFAULT_PRICES,
    currency: 'USD',
  },
} satisfies Config);

export const AUTH_FIELDS: Fields<AuthConfig> = {
  target: { name: 'target', kind: oneOf(TARGETS) },
  authEnabled: { name: 'auth_enabled', kind: flag },
  noAuthTenant: { name: 'no_auth_tenant', kind: text },
};

const SERVER_FIELDS: Fields<ServerConfig> = {
  httpListenAddress: { name: 'http_listen_address', kind: text },
  httpListenPort: { name: 'http_listen_port', kind: whole(0, 65_535) },
  logLevel: { name: 'log_level', kind: oneOf(LOG_LEVELS) },
  readTimeoutMs: { name: 'http_server_read_timeout', kind: durationMs },
  writeTimeoutMs: { name: 'http_server_write_timeout', kind: durationMs },
  idleTimeoutMs: { name: 'http_server_idle_timeout', kind: durationMs },
  gracefulShutdownTimeoutMs: { name: 'graceful_shutdown_timeout', kind: durationMs },
};

const DISTRIBUTOR_FIELDS: Fields<DistributorConfig> = {
  maxRecvMsgSize: { name: 'max_recv_msg_size', kind: bytes },
  maxDecompressedSize: { name: 'max_decompressed_size', kind: bytes },
};

const QUERIER_FIELDS: Fields<QuerierConfig> = {
  tailMaxDurationMs: { name: 'tail_max_duration', kind: durationMs },
  multiTenantQueriesEnabled: { name: 'multi_tenant_queries_enabled', kind: flag },
  maxConcurrent: { name: 'max_concurrent', kind: whole(1) },
};

const FRONTEND_FIELDS: Fields<FrontendConfig> = {
  compressResponses: { name: 'compress_responses', kind: flag },
  supportParquetEncoding: { name: 'support_parquet_encoding', kind: flag },
  maxBodySize: { name: 'max_body_size', kind: bytes },
  maxOutstandingPerTenant: { name: 'max_outstanding_per_tenant', kind: whole(1) },
};

const COMPACTOR_FIELDS: Fields<CompactorConfig> = {
  compactionIntervalMs: { name: 'compaction_interval', kind: durationMs },
  retentionEnabled: { name: 'retention_enabled', kind: flag },
  retentionDeleteDelayMs: { name: 'retention_delete_delay', kind: durationMs },
  deleteRequestCancelPeriodMs: { name: 'delete_request_cancel_period', kind: durationMs },
  deleteBatchSize: { name: 'delete_batch_size', kind: whole(1) },
  deleteMaxIntervalMs: { name: 'delete_max_interval', kind: durationMs },
  deleteRequestStore: { name: 'delete_request_store', kind: text },
};

const PATTERN_INGESTER_FIELDS: Fields<PatternIngesterConfig> = {
  enabled: { name: 'enabled', kind: flag },
};

export const LIMIT_FIELDS: Fields<Limits> = {
  maxLabelNameLength: { name: 'max_label_name_length', kind: count },
  maxLabelValueLength: { name: 'max_label_value_length', kind: count },
  maxLabelNamesPerSeries: { name: 'max_label_names_per_series', kind: count },
  rejectOldSamples: { name: 'reject_old_samples', kind: flag },
  rejectOldSamplesMaxAgeNs: { name: 'reject_old_samples_max_age', kind: durationNs },
  creationGracePeriodNs: { name: 'creation_grace_period', kind: durationNs },
  maxLineSize: { name: 'max_line_size', kind: bytes },
  maxLineSizeTruncate: { name: 'max_line_size_truncate', kind: flag },
  maxLineSizeTruncateIdentifier: { name: 'max_line_size_truncate_identifier', kind: text },
  incrementDuplicateTimestamp: { name: 'increment_duplicate_timestamp', kind: flag },
  discoverServiceName: { name: 'discover_service_name', kind: texts },
  discoverLogLevels: { name: 'discover_log_levels', kind: flag },
  logLevelFields: { name: 'log_level_fields', kind: texts },
  logLevelFromJsonMaxDepth: { name: 'log_level_from_json_max_depth', kind: whole(-1) },
  allowStructuredMetadata: { name: 'allow_structured_metadata', kind: flag },
  maxStructuredMetadataSize: { name: 'max_structured_metadata_size', kind: bytes },
  maxStructuredMetadataEntriesCount: { name: 'max_structured_metadata_entries_count', kind: count },
  otlpConfig: { name: 'otlp_config', kind: otlpConfig },
  enforcedLabels: { name: 'enforced_labels', kind: texts },
  policyEnforcedLabels: { name: 'policy_enforced_labels', kind: textLists },
  policyStreamMapping: { name: 'policy_stream_mapping', kind: policySelectors },
  blockIngestionUntil: { name: 'block_ingestion_until', kind: time },
  blockIngestionPolicyUntil: { name: 'block_ingestion_policy_until', kind: times },
  blockIngestionStatusCode: { name: 'block_ingestion_status_code', kind: whole(200, 599) },
  discoverGenericFields: { name: 'discover_generic_fields', kind: genericFields },
  unorderedWrites: { name: 'unordered_writes', kind: flag },
  shardStreams: { name: 'shard_streams', kind: settings },
  ingestionRateStrategy: { name: 'ingestion_rate_strategy', kind: oneOf(INGESTION_RATE_STRATEGIES) },
  ingestionRateMb: { name: 'ingestion_rate_mb', kind: decimal },
  ingestionBurstSizeMb: { name: 'ingestion_burst_size_mb', kind: decimal },
  maxStreamsPerUser: { name: 'max_streams_per_user', kind: count },
  maxGlobalStreamsPerUser: { name: 'max_global_streams_per_user', kind: count },
  perStreamRateLimit: { name: 'per_stream_rate_limit', kind: bytes },
  perStreamRateLimitBurst: { name: 'per_stream_rate_limit_burst', kind: bytes },
  maxEntriesLimitPerQuery: { name: 'max_entries_limit_per_query', kind: count },
  maxQuerySeries: { name: 'max_query_series', kind: count },
  maxQueryParallelism: { name: 'max_query_parallelism', kind: count },
  maxQueryLengthNs: { name: 'max_query_length', kind: durationNs },
  maxQueryLookbackNs: { name: 'max_query_lookback', kind: durationNs },
  maxQueryRangeNs: { name: 'max_query_range', kind: durationNs },
  maxStreamsMatchersPerQuery: { name: 'max_streams_matchers_per_query', kind: count },
  requiredLabels: { name: 'required_labels', kind: texts },
  minimumLabelsNumber: { name: 'minimum_labels_number', kind: count },
  maxQueryBytesRead: { name: 'max_query_bytes_read', kind: bytes },
  maxQuerierBytesRead: { name: 'max_querier_bytes_read', kind: bytes },
  blockedQueries: { name: 'blocked_queries', kind: blockedQueries },
  queryTimeoutNs: { name: 'query_timeout', kind: durationNs },
  volumeEnabled: { name: 'volume_enabled', kind: flag },
  volumeMaxSeries: { name: 'volume_max_series', kind: count },
  maxConcurrentTailRequests: { name: 'max_concurrent_tail_requests', kind: count },
  deletionMode: { name: 'deletion_mode', kind: oneOf(DELETION_MODES) },
  retentionPeriodNs: { name: 'retention_period', kind: durationNs },
  retentionStream: { name: 'retention_stream', kind: streamRetention },
  rulerMaxRulesPerRuleGroup: { name: 'ruler_max_rules_per_rule_group', kind: count },
  rulerMaxRuleGroupsPerTenant: { name: 'ruler_max_rule_groups_per_tenant', kind: count },
  rulerRemoteWriteDisabled: { name: 'ruler_remote_write_disabled', kind: flag },
};

const RUNTIME_FIELDS: Fields<RuntimeConfig> = {
  files: { name: 'file', kind: paths },
  object: { name: 'object', kind: text },
  periodMs: { name: 'period', kind: durationMs },
};

/** The older names of the same in `limits_config`; the values of `runtime_config` win. */
export const OLDER_RUNTIME_FIELDS: Fields<Pick<RuntimeConfig, 'files' | 'periodMs'>> = {
  files: { name: 'per_tenant_override_config', kind: paths },
  periodMs: { name: 'per_tenant_override_period', kind: durationMs },
};

const LOGBOOM_FIELDS: Fields<LogboomConfig> = {
  storage: { name: 'storage', kind: oneOf(STORAGE_KINDS) },
  dataDir: { name: 'data_dir', kind: text },
  s3Bucket: { name: 's3_bucket', kind: text },
  dynamodbTable: { name: 'dynamodb_table', kind: text },
  awsEndpoint: { name: 'aws_endpoint', kind: text },
  awsRegion: { name: 'aws_region', kind: text },
  inlineMaxBytes: { name: 'inline_max_bytes', kind: bytes },
  groupCommitWaitMs: { name: 'group_commit_wait', kind: durationMs },
  maxConcurrentRequests: { name: 'max_concurrent_requests', kind: whole(1) },
  maxWebSockets: { name: 'max_web_sockets', kind: count },
  connectionsApi: { name: 'connections_api', kind: flag },
  maxBufferedBodyBytes: { name: 'max_buffered_body_bytes', kind: bytes },
  queryWorkers: { name: 'query_workers', kind: whole(-1) },
  queryMemoryBytes: { name: 'query_memory', kind: bytes },
  queryResultCacheBytes: { name: 'query_result_cache_bytes', kind: bytes },
  pageCacheBytes: { name: 'page_cache_bytes', kind: bytes },
  compactionTargetBytes: { name: 'compaction_target_size', kind: bytes },
  maintenanceRunMs: { name: 'maintenance_run', kind: durationMs },
  objectGraceMs: { name: 'object_grace_period', kind: durationMs },
  collectionIntervalMs: { name: 'collection_interval', kind: durationMs },
  indexSync: { name: 'index_sync', kind: flag },
  indexSyncIntervalMs: { name: 'index_sync_interval', kind: durationMs },
  firehoseTenantAttribute: { name: 'firehose_tenant_attribute', kind: flag },
  prices: { name: 'prices', kind: prices },
  currency: { name: 'currency', kind: text },
};

/** Name of a section in the file → its key in Config and its fields. AUTH_FIELDS stand at the top of the file. */
export const SECTIONS = {
  server: { key: 'server', fields: SERVER_FIELDS },
  distributor: { key: 'distributor', fields: DISTRIBUTOR_FIELDS },
  querier: { key: 'querier', fields: QUERIER_FIELDS },
  frontend: { key: 'frontend', fields: FRONTEND_FIELDS },
  compactor: { key: 'compactor', fields: COMPACTOR_FIELDS },
  pattern_ingester: { key: 'patternIngester', fields: PATTERN_INGESTER_FIELDS },
  ruler: { key: 'ruler', fields: RULER_FIELDS },
  limits_config: { key: 'limits', fields: LIMIT_FIELDS },
  runtime_config: { key: 'runtime', fields: RUNTIME_FIELDS },
  logboom: { key: 'logboom', fields: LOGBOOM_FIELDS },
} as const;
