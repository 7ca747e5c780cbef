/**
 * Structure of the configuration, its names in the file (the reference's, in snake case) and the program's
 * defaults. To add a value, add a line to its interface, one to the table of names (with the sentence for the
 * generated reference page) and one to the defaults. Reading, validation and printing follow from these.
 */

import { DEFAULT_LIMITS, type Limits } from '../../base/model/limits.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../base/model/time-units.ts';
import { ACCESS_FIELDS, type AccessConfig, DEFAULT_ACCESS } from './config-access.ts';
import { BYTES, type ConfigFields, DURATION_MS, FLAG, oneOf, PATHS, TEXT, whole } from './config-kinds.ts';
import { LIMIT_FIELDS } from './config-limits.ts';
import { DEFAULT_LOGBOOM, LOGBOOM_FIELDS, type LogboomConfig } from './config-logboom.ts';
import { DEFAULT_RULER, RULER_FIELDS, type RulerConfig } from './config-ruler.ts';
import { type ProcessTarget, TARGETS } from './targets.ts';

export { LIMIT_FIELDS } from './config-limits.ts';
export { type LogboomConfig, STORAGE_KINDS, type StorageKind } from './config-logboom.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Config {
  readonly auth: AuthConfig;
  readonly access: AccessConfig;
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
interface AuthConfig {
  /** Role of this process in a multi-process deployment. */
  readonly target: ProcessTarget;
  readonly authEnabled: boolean;
  readonly noAuthTenant: string;
}

interface ServerConfig {
  /** Empty: all addresses. */
  readonly httpListenAddress: string;
  readonly httpListenPort: number;
  readonly logLevel: LogLevel;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly gracefulShutdownTimeoutMs: number;
}

interface DistributorConfig {
  /** Maximum size of a push body as sent, bytes. */
  readonly maxRecvMsgSize: number;
  /**
   * Maximum size of a decompressed push body, bytes; 0 is 50 times `maxRecvMsgSize` (see
   * maxDecompressedBytes).
   */
  readonly maxDecompressedSize: number;
}

interface QuerierConfig {
  /** Maximum duration of a live tail; 0 is unlimited. */
  readonly tailMaxDurationMs: number;
  readonly multiTenantQueriesEnabled: boolean;
  /** Maximum concurrent queries of a process. Further ones wait, with fair scheduling of tenants. */
  readonly maxConcurrent: number;
}

export interface FrontendConfig {
  readonly compressResponses: boolean;
  readonly supportParquetEncoding: boolean;
  /** Maximum body size of requests other than pushes, bytes. */
  readonly maxBodySize: number;
  /** Maximum number of waiting queries of a tenant. Further ones get status 429. */
  readonly maxOutstandingPerTenant: number;
}

/** Sources of overrides, which are reloaded while the program runs (overrides.ts). */
export interface RuntimeConfig {
  /** Paths of files. A later file overrides earlier ones. */
  readonly files: readonly string[];
  /**
   * Key of an object in the store with overrides, for deployments without files; empty is none. It overrides
   * the files.
   */
  readonly object: string;
  /** Reload interval; 0 is never. */
  readonly periodMs: number;
}

interface CompactorConfig {
  readonly compactionIntervalMs: number;
  /** If false, entries never expire, and the delete API does not exist. */
  readonly retentionEnabled: boolean;
  /** Time that objects of expired entries stay after the catalog no longer references them. */
  readonly retentionDeleteDelayMs: number;
  /** Minimum age of a delete request before it is processed. */
  readonly deleteRequestCancelPeriodMs: number;
  /** Maximum number of delete requests of a tenant in progress. */
  readonly deleteBatchSize: number;
  /** Maximum length of the parts into which a request is divided. */
  readonly deleteMaxIntervalMs: number;
  /** No effect, because requests are stored in the catalog. Accepted because the reference needs it. */
  readonly deleteRequestStore: string;
}

interface PatternIngesterConfig {
  /** Mine patterns during compaction, and serve pattern queries. */
  readonly enabled: boolean;
}

const MIB = 1024 * 1024;

export const DEFAULT_CONFIG: Config = Object.freeze({
  auth: { target: 'all', authEnabled: true, noAuthTenant: 'fake' },
  access: DEFAULT_ACCESS,
  server: {
    httpListenAddress: '',
    httpListenPort: 3100,
    logLevel: 'info',
    readTimeoutMs: 30_000,
    writeTimeoutMs: 30_000,
    idleTimeoutMs: 120_000,
    gracefulShutdownTimeoutMs: 30_000,
  },
  // The reference's default is 50 times the former, with which one body could use 5 GB.
  distributor: { maxRecvMsgSize: 100 * MIB, maxDecompressedSize: 128 * MIB },
  // The reference runs 4 parts of queries at a time. More concurrent queries do not finish sooner, and each
  // holds its plan and pages.
  querier: { tailMaxDurationMs: MS_PER_HOUR, multiTenantQueriesEnabled: false, maxConcurrent: 32 },
  frontend: {
    compressResponses: true,
    supportParquetEncoding: true,
    maxBodySize: 10 * MIB,
    maxOutstandingPerTenant: 2048,
  },
  // The reference's default is 10m. In Logboom, unmerged small pushes make every query slower.
  compactor: {
    compactionIntervalMs: 60_000,
    // The reference's default is off. It changes nothing without a retention period and delete requests.
    retentionEnabled: true,
    retentionDeleteDelayMs: 7_200_000,
    deleteRequestCancelPeriodMs: MS_PER_DAY,
    deleteBatchSize: 70,
    deleteMaxIntervalMs: MS_PER_DAY,
    deleteRequestStore: '',
  },
  patternIngester: { enabled: false },
  ruler: DEFAULT_RULER,
  limits: DEFAULT_LIMITS,
  runtime: { files: [], object: '', periodMs: 10_000 },
  logboom: DEFAULT_LOGBOOM,
} satisfies Config);

export const AUTH_FIELDS: ConfigFields<AuthConfig> = {
  target: {
    name: 'target',
    kind: oneOf(TARGETS),
    about: 'role of this process ([several processes](../operate/size.md#several-processes))',
  },
  authEnabled: {
    name: 'auth_enabled',
    kind: FLAG,
    about: 'take the tenant from the header `X-Scope-OrgID`',
  },
  noAuthTenant: {
    name: 'no_auth_tenant',
    kind: TEXT,
    about: 'the only tenant if `auth_enabled` is false; see [how to change it](#change-no_auth_tenant)',
  },
};

const SERVER_FIELDS: ConfigFields<ServerConfig> = {
  httpListenAddress: {
    name: 'http_listen_address',
    kind: TEXT,
    about: 'listen address; empty is all addresses',
  },
  httpListenPort: { name: 'http_listen_port', kind: whole(0, 65_535), about: 'port; 0 is any free port' },
  logLevel: { name: 'log_level', kind: oneOf(LOG_LEVELS), about: 'minimum log level' },
  readTimeoutMs: {
    name: 'http_server_read_timeout',
    kind: DURATION_MS,
    about: 'time to receive a request',
  },
  writeTimeoutMs: {
    name: 'http_server_write_timeout',
    kind: DURATION_MS,
    about: 'time without progress of a response',
  },
  idleTimeoutMs: {
    name: 'http_server_idle_timeout',
    kind: DURATION_MS,
    about: 'idle time of a connection',
  },
  gracefulShutdownTimeoutMs: {
    name: 'graceful_shutdown_timeout',
    kind: DURATION_MS,
    about: 'time that running requests have after a stop signal',
  },
};

const DISTRIBUTOR_FIELDS: ConfigFields<DistributorConfig> = {
  maxRecvMsgSize: { name: 'max_recv_msg_size', kind: BYTES, about: 'maximum body size of a push, as sent' },
  maxDecompressedSize: {
    name: 'max_decompressed_size',
    kind: BYTES,
    about: 'maximum decompressed body size of a push; 0 is 50 times `max_recv_msg_size`, the default of Loki',
  },
};

const QUERIER_FIELDS: ConfigFields<QuerierConfig> = {
  tailMaxDurationMs: {
    name: 'tail_max_duration',
    kind: DURATION_MS,
    about: 'maximum duration of a live tail; 0 is no limit ([live tail](../live-tail.md))',
  },
  multiTenantQueriesEnabled: {
    name: 'multi_tenant_queries_enabled',
    kind: FLAG,
    about: 'allow queries over several tenants, `a|b` in the header',
  },
  maxConcurrent: {
    name: 'max_concurrent',
    kind: whole(1),
    about:
      'maximum number of concurrent queries in a process; others wait, with fair scheduling of tenants. Loki counts parts of queries, and its default is 4',
  },
};

const FRONTEND_FIELDS: ConfigFields<FrontendConfig> = {
  compressResponses: {
    name: 'compress_responses',
    kind: FLAG,
    about: 'compress responses from 1,400 bytes with gzip, for clients that accept it',
  },
  supportParquetEncoding: {
    name: 'support_parquet_encoding',
    kind: FLAG,
    about:
      'serve Parquet for `Accept: application/vnd.apache.parquet` of query and query_range; `false` refuses it with 400',
  },
  maxBodySize: {
    name: 'max_body_size',
    kind: BYTES,
    about: 'maximum body size of requests other than pushes',
  },
  maxOutstandingPerTenant: {
    name: 'max_outstanding_per_tenant',
    kind: whole(1),
    about:
      'maximum number of waiting queries of a tenant; further ones get 429 `too many outstanding requests`',
  },
};

const COMPACTOR_FIELDS: ConfigFields<CompactorConfig> = {
  compactionIntervalMs: {
    name: 'compaction_interval',
    kind: DURATION_MS,
    about:
      'interval of compaction ([maintenance](../dev/operations.md#maintenance)); the default of Loki is 10m. On AWS, whole minutes',
  },
  retentionEnabled: {
    name: 'retention_enabled',
    kind: FLAG,
    about:
      'apply retention and delete requests; off: the delete API responds with 404. The default of Loki is off',
  },
  retentionDeleteDelayMs: {
    name: 'retention_delete_delay',
    kind: DURATION_MS,
    about: 'time that objects of expired entries are kept after the catalog no longer references them',
  },
  deleteRequestCancelPeriodMs: {
    name: 'delete_request_cancel_period',
    kind: DURATION_MS,
    about:
      'age at which a delete request is processed; until then you can cancel it, and its entries become visible again',
  },
  deleteBatchSize: {
    name: 'delete_batch_size',
    kind: whole(1),
    about: 'maximum number of delete requests of a tenant that are processed at a time',
  },
  deleteMaxIntervalMs: {
    name: 'delete_max_interval',
    kind: DURATION_MS,
    about: 'maximum length of the parts into which a delete request with filters is divided',
  },
  deleteRequestStore: {
    name: 'delete_request_store',
    kind: TEXT,
    about: 'accepted without effect: requests are stored in the catalog. Loki needs it',
  },
};

const PATTERN_INGESTER_FIELDS: ConfigFields<PatternIngesterConfig> = {
  enabled: {
    name: 'enabled',
    kind: FLAG,
    about: 'mine [patterns](../patterns.md) during compaction, and serve `/patterns`; off: 404',
  },
};

const RUNTIME_FIELDS: ConfigFields<RuntimeConfig> = {
  files: {
    name: 'file',
    kind: PATHS,
    about: 'path, several paths with commas, or a list; later files override earlier ones',
  },
  object: {
    name: 'object',
    own: true,
    kind: TEXT,
    about: 'key of an object in the store that contains overrides; it overrides the files',
  },
  periodMs: { name: 'period', kind: DURATION_MS, about: 'interval at which they are reloaded; 0 is never' },
};

/** Older names of these values in `limits_config`. The values of `runtime_config` override them. */
export const OLDER_RUNTIME_FIELDS: ConfigFields<Pick<RuntimeConfig, 'files' | 'periodMs'>> = {
  files: { name: 'per_tenant_override_config', kind: PATHS, about: 'older name of `runtime_config.file`' },
  periodMs: {
    name: 'per_tenant_override_period',
    kind: DURATION_MS,
    about: 'older name of `runtime_config.period`',
  },
};

/**
 * Maps the name of a section in the file to its key in Config and its fields. AUTH_FIELDS are at the top of
 * the file.
 */
export const SECTIONS = {
  auth: { key: 'access', fields: ACCESS_FIELDS },
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
