/** The section `logboom`: what the reference has no name for. An unknown key in it is an error. */

import { address, bytes, count, durationMs, type Fields, flag, oneOf, text, whole } from './config-kinds.ts';
import { DEFAULT_PRICES, type Prices } from './prices.ts';
import { prices } from './prices-kind.ts';

export const STORAGE_KINDS = ['files', 's3'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

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
  /** Pushes that wait to be merged, bytes of lines; more are answered 429. 0 is no bound. One machine only. */
  readonly maxMergeBacklogBytes: number;
  /** A run of a scheduled job begins nothing new after this time; the next one goes on. */
  readonly maintenanceRunMs: number;
  /** How long objects stay after the last record that named them is gone; longer than any query. */
  readonly objectGraceMs: number;
  /** How often objects whose time has come are deleted. */
  readonly collectionIntervalMs: number;
  /** Keep an index object for each tenant and day. */
  readonly indexSync: boolean;
  readonly indexSyncIntervalMs: number;
  /** Requests of Firehose without a tenant header may name the tenant in their common attributes (docs/reference/receivers.md). */
  readonly firehoseTenantAttribute: boolean;
  /** For the estimated cost in `/svc/api/v1/usage`. */
  readonly prices: Prices;
  /** What the prices are in; a name to show. */
  readonly currency: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LOGBOOM: LogboomConfig = {
  storage: 'files',
  dataDir: './data',
  s3Bucket: '',
  dynamodbTable: '',
  awsEndpoint: '',
  awsRegion: '',
  // Where the write units of an item and of its deletion cost as much as one object put and get (docs/dev/cost-model.md).
  inlineMaxBytes: 4 * KIB,
  groupCommitWaitMs: 2,
  maxConcurrentRequests: 1024,
  maxWebSockets: 1000,
  connectionsApi: false,
  // Five of the largest pushes at once.
  maxBufferedBodyBytes: 128 * MIB,
  queryWorkers: -1,
  // Two of the largest, or a hundred usual ones.
  queryMemoryBytes: 1024 * MIB,
  // Some thousand answers of 20 series and an hour of minutes each.
  queryResultCacheBytes: 32 * MIB,
  // The pages of a dashboard or two: an hour of 1 GB a day is 40 MB. What a query reads above it is unpacked each time.
  pageCacheBytes: 176 * MIB,
  compactionTargetBytes: 128 * MIB,
  // Merging takes 25 to 50 s of one core for 1 GB, so it catches up within one or two minutes.
  maxMergeBacklogBytes: 2048 * MIB,
  maintenanceRunMs: 300_000,
  // Ten times the default deadline of a query.
  objectGraceMs: 600_000,
  collectionIntervalMs: 300_000,
  indexSync: true,
  indexSyncIntervalMs: 300_000,
  firehoseTenantAttribute: false,
  prices: DEFAULT_PRICES,
  currency: 'USD',
};

export const LOGBOOM_FIELDS: Fields<LogboomConfig> = {
  storage: {
    name: 'storage',
    kind: oneOf(STORAGE_KINDS),
    about: 'where chunks and catalog are kept: in `data_dir`, or on S3 and DynamoDB',
  },
  dataDir: {
    name: 'data_dir',
    kind: text,
    about: 'folder of the data with `files`, from the folder where the program is started',
  },
  s3Bucket: {
    name: 's3_bucket',
    kind: text,
    about: 'with `s3`; credentials come from where the AWS SDK looks for them',
  },
  dynamodbTable: { name: 'dynamodb_table', kind: text, about: 'with `s3`' },
  awsEndpoint: { name: 'aws_endpoint', kind: address, about: 'see `--endpoint`' },
  awsRegion: { name: 'aws_region', kind: text, about: 'see `--region`' },
  inlineMaxBytes: {
    name: 'inline_max_bytes',
    kind: bytes,
    about:
      'compressed pushes up to this size lie in the catalog, larger ones are objects ([cost model](../dev/cost-model.md))',
  },
  groupCommitWaitMs: {
    name: 'group_commit_wait',
    kind: durationMs,
    about: 'how long a push waits for others to share one write with; functions do not wait',
  },
  maxConcurrentRequests: {
    name: 'max_concurrent_requests',
    kind: whole(1),
    about: 'more at once are answered 503',
  },
  maxWebSockets: {
    name: 'max_web_sockets',
    kind: count,
    about: 'WebSockets of one process; more are answered 503',
  },
  connectionsApi: {
    name: 'connections_api',
    kind: flag,
    about:
      '`/@connections/{id}` as API Gateway has it, for programs of this machine ([live tail](../live-tail.md))',
  },
  maxBufferedBodyBytes: {
    name: 'max_buffered_body_bytes',
    kind: bytes,
    about: 'bodies held at once by all requests; more are answered 503',
  },
  queryWorkers: {
    name: 'query_workers',
    kind: whole(-1),
    about:
      'query threads at most; the first always runs, the others start when all before them are busy. -1 is one less than there are cores; at least 1',
  },
  queryMemoryBytes: {
    name: 'query_memory',
    kind: bytes,
    about:
      'what all queries of a process may hold (states, series, entries, 8 MB each for pages); more are answered 429. One query gets half a GB at most',
  },
  queryResultCacheBytes: {
    name: 'query_result_cache_bytes',
    kind: bytes,
    about:
      'results of queries that are kept: they serve the same query over the same instants until a chunk in its range is new. 0 keeps none',
  },
  pageCacheBytes: {
    name: 'page_cache_bytes',
    kind: bytes,
    about:
      'decompressed pages that queries read again are cached, three quarters for lines ([memory](../operate/size.md#memory)); query threads share it; `0` caches none',
  },
  compactionTargetBytes: {
    name: 'compaction_target_size',
    kind: bytes,
    about: 'stored bytes at which compaction ends an object; chunks of half of it are left as they are',
  },
  maxMergeBacklogBytes: {
    name: 'max_merge_backlog',
    kind: bytes,
    about:
      'lines pushed faster than they are merged ([limits.md](limits.md#the-merge-backlog)); beyond it tenants with a share of it are answered 429, from a quarter of it on merging has the priority of requests. `0` is no bound; on one machine only',
  },
  maintenanceRunMs: {
    name: 'maintenance_run',
    kind: durationMs,
    about:
      "a run of a scheduled job begins nothing new after this time, and a client's flush goes on in the background. Functions: 25 s for requests, scheduled runs have the time of the function less one minute",
  },
  objectGraceMs: {
    name: 'object_grace_period',
    kind: durationMs,
    about:
      'how long objects stay that the catalog no longer names; must be longer than the longest query, or queries fail. A process that alone serves a data folder deletes them as soon as none of its queries needs them, some 20 seconds after',
  },
  collectionIntervalMs: {
    name: 'collection_interval',
    kind: durationMs,
    about: 'how often objects whose time has come are deleted; once a day orphans are looked for with it',
  },
  indexSync: {
    name: 'index_sync',
    kind: flag,
    about: 'keep an index object for each tenant and day; `false` answers `/sync-indexes` 503',
  },
  indexSyncIntervalMs: {
    name: 'index_sync_interval',
    kind: durationMs,
    about: 'how often indexes are brought up to date',
  },
  firehoseTenantAttribute: {
    name: 'firehose_tenant_attribute',
    kind: flag,
    about:
      'requests of Firehose without a tenant header may name the tenant in their common attributes ([receivers](receivers.md#firehose))',
  },
  prices: {
    name: 'prices',
    kind: prices,
    about: 'for the estimated cost of [usage](metrics.md), where its keys are explained',
  },
  currency: { name: 'currency', kind: text, about: 'what the prices are in; shown, never converted' },
};
