/** The section `logboom`: settings that the reference does not have. An unknown key in it is an error. */

import {
  ADDRESS,
  BYTES,
  type ConfigFields,
  count,
  DURATION_MS,
  FLAG,
  oneOf,
  TEXT,
  whole,
} from './config-kinds.ts';
import { DEFAULT_PRICES, type Prices } from './prices.ts';
import { PRICES } from './prices-kind.ts';

export const STORAGE_KINDS = ['files', 's3'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

/** Settings that only Logboom has. */
export interface LogboomConfig {
  /** Storage of chunks and catalog: in `dataDir`, or in an S3 bucket and a DynamoDB table. */
  readonly storage: StorageKind;
  readonly dataDir: string;
  /** Bucket for `storage: s3`; empty if not set. */
  readonly s3Bucket: string;
  readonly dynamodbTable: string;
  /** Endpoint instead of AWS, for example an emulator. Missing buckets and tables are then created. */
  readonly awsEndpoint: string;
  readonly awsRegion: string;
  /**
   * Maximum compressed size of an inline push, which is stored in its catalog record. Larger ones are
   * objects.
   */
  readonly inlineMaxBytes: number;
  /** Time that a push may wait to share one durable write with others. */
  readonly groupCommitWaitMs: number;
  /** The same in a process of the write tier: target `write` or `distributor`, over S3. */
  readonly writeTierWaitMs: number;
  /**
   * Address of another store process or of the functions. A process that accepts pushes forwards all other requests
   * there. Empty: nothing is forwarded.
   */
  readonly forwardTo: string;
  /** Address for live tails, if it is another one. With a path, all tails go to that path. */
  readonly forwardTailsTo: string;
  /** Maximum concurrent requests of the gateway. Further ones get status 503. */
  readonly maxConcurrentRequests: number;
  /** Maximum concurrent WebSockets of the gateway. Further ones get status 503. */
  readonly maxWebSockets: number;
  /**
   * Serve the management API of the gateway's WebSockets (`/@connections/{id}`), for programs on this
   * machine.
   */
  readonly connectionsApi: boolean;
  /** Maximum bytes of request bodies in the gateway. Beyond it, requests get status 503. */
  readonly maxBufferedBodyBytes: number;
  /** Number of query threads on one machine; 0 is none. -1 is the number of cores minus one, at most 8. */
  readonly queryWorkers: number;
  /** Memory of all queries of a process. Beyond it, queries get status 429. */
  readonly queryMemoryBytes: number;
  /** Size of the cache of task results of metric queries, bytes; 0 disables it. */
  readonly queryResultCacheBytes: number;
  /** Size of the cache of decompressed pages per thread, bytes. */
  readonly pageCacheBytes: number;
  /** Stored size of a fully compacted chunk, bytes. */
  readonly compactionTargetBytes: number;
  /** Maximum number of functions that merge one tenant's day at a time. Only in functions. */
  readonly maxCompactionFunctions: number;
  /** Lines of a tenant in 5 minutes for each part of its streams, bytes. 0 is decided by what merges. */
  readonly streamPartBytes: number;
  /**
   * Maximum bytes of pushed lines that wait for a merge, on one machine. Beyond it, pushes get status 429. 0
   * is unlimited.
   */
  readonly maxMergeBacklogBytes: number;
  /**
   * Maximum number of unmerged chunks of a tenant, with a shared table. Beyond it, its pushes get status 429.
   * 0 is unlimited.
   */
  readonly maxUnmergedChunks: number;
  /** Time after which a run of a scheduled job starts no new work. The next run continues. */
  readonly maintenanceRunMs: number;
  /** Time that objects stay after the catalog no longer references them. Longer than any query. */
  readonly objectGraceMs: number;
  /** Interval at which unreferenced objects are deleted. */
  readonly collectionIntervalMs: number;
  /** Maintain an index object per tenant and day. */
  readonly indexSync: boolean;
  readonly indexSyncIntervalMs: number;
  /**
   * Let Firehose requests without a tenant header name the tenant in their common attributes
   * (docs/reference/receivers.md).
   */
  readonly firehoseTenantAttribute: boolean;
  /** Prices for the estimated cost in `/svc/api/v1/usage`. */
  readonly prices: Prices;
  /** Currency of the prices, only for display. */
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
  // At this size, the write units of an item and of its deletion cost as much as one object put and get
  // (docs/dev/cost-model.md).
  inlineMaxBytes: 4 * KIB,
  groupCommitWaitMs: 2,
  // 1,000 agents that push each second become 4 objects a second and process. Agents wait longer for S3 itself.
  writeTierWaitMs: 250,
  forwardTo: '',
  forwardTailsTo: '',
  maxConcurrentRequests: 1024,
  maxWebSockets: 1000,
  connectionsApi: false,
  // Five of the largest pushes at a time.
  maxBufferedBodyBytes: 128 * MIB,
  queryWorkers: -1,
  // Two of the largest queries, or 100 usual ones.
  queryMemoryBytes: 1024 * MIB,
  // About 500 results of 20 series over an hour of minutes each. While a tenant pushes, each push creates
  // another key.
  queryResultCacheBytes: 8 * MIB,
  // The pages of one or two dashboards: an hour of 1 GB a day is 40 MB. Queries decompress further pages each
  // time.
  pageCacheBytes: 176 * MIB,
  compactionTargetBytes: 128 * MIB,
  // 16 TB of lines a day of one tenant. The stack reserves 50 calls of a quota of 1,000 for maintenance, and
  // other jobs need some.
  maxCompactionFunctions: 32,
  streamPartBytes: 0,
  // Merging 1 GB takes 25 to 50 s of one core, so it catches up within one or two minutes.
  maxMergeBacklogBytes: 2048 * MIB,
  // Their records use 100 MB in a process that plans or merges the day.
  maxUnmergedChunks: 100_000,
  maintenanceRunMs: 300_000,
  // Ten times the default timeout of a query.
  objectGraceMs: 600_000,
  collectionIntervalMs: 300_000,
  indexSync: true,
  indexSyncIntervalMs: 300_000,
  firehoseTenantAttribute: false,
  prices: DEFAULT_PRICES,
  currency: 'USD',
};

export const LOGBOOM_FIELDS: ConfigFields<LogboomConfig> = {
  storage: {
    name: 'storage',
    kind: oneOf(STORAGE_KINDS),
    about: 'storage of chunks and catalog: `data_dir`, or S3 and DynamoDB',
  },
  dataDir: {
    name: 'data_dir',
    kind: TEXT,
    about: 'data folder with `files`, relative to the folder in which the program starts',
  },
  s3Bucket: {
    name: 's3_bucket',
    kind: TEXT,
    about: 'bucket with `s3`; credentials come from the default sources of the AWS SDK',
  },
  dynamodbTable: { name: 'dynamodb_table', kind: TEXT, about: 'table with `s3`' },
  awsEndpoint: {
    name: 'aws_endpoint',
    kind: ADDRESS,
    about: 'another endpoint than AWS, such as an emulator; bucket and table are created if missing',
  },
  awsRegion: { name: 'aws_region', kind: TEXT, about: 'AWS region' },
  inlineMaxBytes: {
    name: 'inline_max_bytes',
    kind: BYTES,
    about:
      'maximum compressed size of a push that is stored in the catalog; larger ones are objects ([cost model](../dev/cost-model.md))',
  },
  groupCommitWaitMs: {
    name: 'group_commit_wait',
    kind: DURATION_MS,
    about: 'time that a push waits to share a write with others; functions do not wait',
  },
  writeTierWaitMs: {
    name: 'write_tier_wait',
    kind: DURATION_MS,
    about:
      'the same in a process of the [write tier](../operate/size.md#many-small-agents): target `write` or `distributor`, with `s3`. A longer wait makes fewer and larger objects',
  },
  forwardTo: {
    name: 'forward_to',
    kind: ADDRESS,
    about:
      'address of another process or of the functions, `https://HOST`. A process of the write tier answers pushes and `/ready`, and forwards all other requests there ([one address](../operate/size.md#one-address)). `LOGBOOM_FORWARD_TO` sets it too',
  },
  forwardTailsTo: {
    name: 'forward_tails_to',
    kind: ADDRESS,
    about:
      'address for live tails, if `forward_to` does not serve them. All tails go to its path, if it has one. `LOGBOOM_FORWARD_TAILS_TO` sets it too',
  },
  maxConcurrentRequests: {
    name: 'max_concurrent_requests',
    kind: whole(1),
    about: 'maximum number of concurrent requests; further ones get 503',
  },
  maxWebSockets: {
    name: 'max_web_sockets',
    kind: count,
    about: 'maximum number of WebSockets in a process; further ones get 503',
  },
  connectionsApi: {
    name: 'connections_api',
    kind: FLAG,
    about:
      'serve `/@connections/{id}` as API Gateway does, for programs on this machine ([live tail](../live-tail.md))',
  },
  maxBufferedBodyBytes: {
    name: 'max_buffered_body_bytes',
    kind: BYTES,
    about: 'memory for request bodies; beyond it, requests get 503',
  },
  queryWorkers: {
    name: 'query_workers',
    kind: whole(-1),
    about:
      'maximum number of query threads. The first always runs, the others start if all running ones are busy. -1 is the number of cores minus one, at least 1',
  },
  queryMemoryBytes: {
    name: 'query_memory',
    kind: BYTES,
    about:
      'memory for all queries of a process: states, series, entries, and 8 MB each for pages. Beyond it, queries get 429. One query gets up to 512 MiB',
  },
  queryResultCacheBytes: {
    name: 'query_result_cache_bytes',
    kind: BYTES,
    about:
      'size of the results cache. A result serves the same query over the same instants until its range has a new chunk. 0 is off',
  },
  pageCacheBytes: {
    name: 'page_cache_bytes',
    kind: BYTES,
    about:
      'size of the cache of decompressed pages, which query threads share; three quarters are for lines ([memory](../operate/size.md#memory)). 0 is off',
  },
  compactionTargetBytes: {
    name: 'compaction_target_size',
    kind: BYTES,
    about: 'size at which compaction completes an object; chunks of half that size are not merged again',
  },
  maxCompactionFunctions: {
    name: 'max_compaction_functions',
    kind: whole(1),
    about:
      'maximum number of functions that merge a day of one tenant at a time, in addition to the one that plans it ([large tenants](../dev/fleet.md#compaction)). A backlog of up to 256 MiB of lines takes one function. 1 is no other function. On AWS only',
  },
  streamPartBytes: {
    name: 'stream_part_size',
    kind: BYTES,
    about:
      'lines of a tenant in 5 minutes for each [part of its streams](../dev/compaction.md#parts-of-the-streams), up to 8 parts. A chunk has streams of one part, so queries of few streams read fewer chunks. 0 is 2.5 GiB if several functions or threads merge, and otherwise no division',
  },
  maxMergeBacklogBytes: {
    name: 'max_merge_backlog',
    kind: BYTES,
    about:
      'maximum size of pushed lines that wait to be merged, on one machine ([merge backlog](limits.md#the-merge-backlog)); beyond it, tenants with a share get 429, and from a quarter of it merging has the priority of requests. 0 is no limit',
  },
  maxUnmergedChunks: {
    name: 'max_unmerged_chunks',
    kind: count,
    about:
      'maximum number of chunks of a tenant that wait to be merged, with S3 and DynamoDB ([merge backlog](limits.md#the-merge-backlog)); beyond it, the tenant gets 429. 0 is no limit',
  },
  maintenanceRunMs: {
    name: 'maintenance_run',
    kind: DURATION_MS,
    about:
      "a run of a scheduled job starts no new work after this time, and a client's flush continues in the background. Functions: 25 s for requests, scheduled runs have the time of the function less one minute",
  },
  objectGraceMs: {
    name: 'object_grace_period',
    kind: DURATION_MS,
    about:
      'time that objects are kept after the catalog no longer references them. It must be longer than the longest query. A single process with a data folder deletes them as soon as no query needs them: a second after a merge of pushes, and 20 seconds after others',
  },
  collectionIntervalMs: {
    name: 'collection_interval',
    kind: DURATION_MS,
    about: 'interval at which unreferenced objects are deleted; once a day, also orphans',
  },
  indexSync: {
    name: 'index_sync',
    kind: FLAG,
    about: 'maintain an index for each tenant and day; off: `/sync-indexes` responds with 503',
  },
  indexSyncIntervalMs: {
    name: 'index_sync_interval',
    kind: DURATION_MS,
    about: 'interval of index sync',
  },
  firehoseTenantAttribute: {
    name: 'firehose_tenant_attribute',
    kind: FLAG,
    about:
      'let Firehose requests without a tenant header name the tenant in a common attribute ([receivers](receivers.md#firehose))',
  },
  prices: {
    name: 'prices',
    kind: PRICES,
    about: 'prices for the estimated cost in [usage](metrics.md), which explains the keys',
  },
  currency: { name: 'currency', kind: TEXT, about: 'currency of the prices; shown, and never converted' },
};
