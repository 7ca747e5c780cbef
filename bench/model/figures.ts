/**
 * Inputs of the model: measured figures with their sources, AWS limits, and assumptions. Based on JSON
 * service logs, pushed as protobuf with snappy. Each figure is in docs/dev/cost-model.md or
 * docs/dev/benchmarks.md; none was measured in an AWS account.
 */
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { MAX_CHUNK_SHARDS } from '../../shared/storage/catalog/keys.ts';

/** Figures of pushes. */
export const PUSH = {
  /** Measured (`npm run bench -- ingest`): 17 to 19 from JSON, protobuf and OTLP, in a separate process. */
  cpuSecondsPerGb: 18,
  /** Assumed: waiting for S3, then for DynamoDB. */
  waitSeconds: 0.05,
  /** Measured: size of a sent body relative to its lines. */
  sentShare: 0.32,
  memoryGb: 1769 / 1024,
  /** Limit of the gateway and Lambda, as sent (docs/reference/aws.md). */
  maxSentBytes: 4.4 * 1024 * 1024,
} as const;

/** Figures of the write service (lib/write-service.ts): containers that store the pushes of many agents together. */
export const WRITE_SERVICE = {
  /**
   * Measured: CPU of `logboom start --target write` over emulated stores, pushes of 1, 10 and 100 KB as protobuf with
   * snappy from 200 connections, next to other work on the machine.
   */
  cpuSecondsPerPush: 0.00065,
  cpuSecondsPerGb: 11,
  /** `logboom.write_tier_wait`. */
  waitSeconds: 0.25,
  /** Largest group (shared/write/ingest/group-commit.ts). */
  maxGroupBytes: 4 * 1024 * 1024,
  /** Settings of the stack; test/lib/cost-tests.ts compares them with the template. */
  leastTasks: 2,
  cpuTarget: 0.5,
  taskCpus: 1,
  taskGb: 2,
  /** Addresses of the public load balancer, one in each zone. */
  balancerAddresses: 2,
  /**
   * Each hour costs the largest of four uses of a capacity unit. https://aws.amazon.com/elasticloadbalancing/pricing/
   */
  unitBytesPerHour: 1e9,
  unitConnectionsPerSecond: 25,
  unitActiveConnections: 3_000,
  unitRulesPerSecond: 1_000,
  /** Rules of a request that cost nothing, and those of the public load balancer (test/lib/write-tests.ts). */
  freeRules: 10,
  rules: 3,
  /** Assumed: head of a request and its response. */
  headBytes: 500,
  /** Assumed: each agent pushes once a second, and opens a connection once a minute. Agents keep them longer. */
  secondsBetweenPushes: 1,
  secondsOfConnection: 60,
  /**
   * Measured: CPU of a process that forwards requests over TLS (docs/dev/cost-model.md#many-small-agents): 0.49, 0.81 and
   * 3.3 ms for responses of 1 KB, 100 KB and 1 MB.
   */
  cpuSecondsPerForwarded: 0.0005,
  cpuSecondsPerForwardedGb: 2.8,
  /** Assumed: response of a query, compressed. */
  forwardedBytes: 100_000,
} as const;

/** Seconds of the functions that may merge the day of a tenant (`max_compaction_functions`). */
export const MERGE_SECONDS_OF_TENANT_DAY = 86_400 * DEFAULT_CONFIG.logboom.maxCompactionFunctions;

/** Stored bytes per byte of lines after merging: 82.7 MB of 512 MB (docs/dev/decisions/0009-templates-and-columns.md). */
export const STORED_SHARE = 0.16;

/** Kinds of queries; simulated.ts has their figures. */
interface QueryKind {
  readonly name: string;
  readonly example: string;
  /** Share of all queries. Assumed: dashboards mostly run counts. */
  readonly share: number;
}

export const QUERY_KINDS: readonly QueryKind[] = [
  { name: 'counts', example: 'count_over_time without a filter', share: 0.6 },
  { name: 'rare text', example: '|= "needle"', share: 0.3 },
  { name: 'much to look at', example: '| json | status >= 500', share: 0.1 },
];

export const QUERY = {
  memoryGb: 3008 / 1024,
  workerMemoryGb: 1769 / 1024,
  readUnitsPerDay: 7,
  /** Records of a shard beyond this need more units: 4 shards of 4 KB, about 1 KB per merged chunk. */
  recordsPerReadUnit: 4,
} as const;

/** Merged chunk: `compaction_target_size`, stored bytes. */
export const CHUNK_BYTES = 128 * 1024 * 1024;

/**
 * Figures of the timer and of the jobs that it calls (functions/timer-handler.ts,
 * docs/dev/cost-model.md#an-idle-store).
 */
export const IDLE = {
  /** Counted in an idle store, per call (test/functions/timer.test.ts); an empty read takes one unit. */
  timerReads: 17,
  /** Assumed: these reads, most of them in parallel. */
  timerSeconds: 0.05,
  /** Counted in an emulator: 7 to 10 reads and 1 to 5 writes of a job without work. */
  jobReads: 8.5,
  jobWriteUnits: 3,
  /** Assumed: a job without work in a warm instance. */
  jobSeconds: 0.1,
  /**
   * CPU time of maintenance from a cold start to its response, measured
   * (docs/reference/aws.md#start-of-a-function), and waiting as assumed above.
   */
  startSeconds: 0.29,
  /** Log lines of Lambda per call: START, END and REPORT. */
  logBytesPerCall: 300,
  /** Jobs run one per minute once an hour, so the first starts an instance, and the others reuse it. */
  startsPerHour: 1,
} as const;

/** Documented AWS quotas. Most are raised on request (`soft`); those of a partition and a prefix are not. */
export const LIMITS = {
  gatewayPerSecond: 10_000,
  lambdaConcurrency: 1_000,
  tableWritesPerSecond: 40_000,
  partitionWritesPerSecond: 1_000,
  /** Most shards of the records of a tenant's day; they grow with its rate (docs/dev/catalog.md#items). */
  partitionsOfTenantDay: MAX_CHUNK_SHARDS,
  /** Beginnings of hashed keys (docs/dev/format.md#8-the-catalog-record). */
  prefixesOfTenant: 256,
  prefixPutsPerSecond: 3_500,
  prefixGetsPerSecond: 5_500,
} as const;

/**
 * Measured: catalog item and object of a push by KB of lines; write units include the deletion
 * (docs/dev/cost-model.md#a-gigabyte-by-batch-size).
 */
interface ChunkOfPush {
  readonly kb: number;
  readonly name: string;
  readonly itemKb: string;
  /** Undefined if the chunk is inline in the item. */
  readonly objectKb?: number;
  readonly writeUnits: number;
}

export const CHUNK_ITEM: readonly ChunkOfPush[] = [
  { kb: 1, name: '1 KB', itemKb: '0.98', writeUnits: 2 },
  { kb: 4, name: '4 KB', itemKb: '1.9', writeUnits: 4 },
  { kb: 10, name: '10 KB', itemKb: '3.2', writeUnits: 8 },
  { kb: 20, name: '20 KB', itemKb: '0.87', objectKb: 5.1, writeUnits: 2 },
  { kb: 40, name: '40 KB', itemKb: '0.90', objectKb: 9.1, writeUnits: 2 },
  { kb: 100, name: '100 KB', itemKb: '0.93', objectKb: 19.6, writeUnits: 2 },
  { kb: 1000, name: '1 MB', itemKb: '1.25', objectKb: 184.6, writeUnits: 4 },
];

/**
 * Counted by `npm run bench -- requests --mb 512`, per query; `times` is the number whose price the page
 * shows.
 */
export const REQUESTS_OF_QUERIES: readonly {
  readonly name: string;
  readonly coldGets: readonly number[];
  readonly warmGets: number;
  readonly readUnits: number;
  readonly times: number;
}[] = [
  { name: 'labels, series, volume', coldGets: [1], warmGets: 0, readUnits: 6, times: 1000 },
  { name: 'count or rate without a filter', coldGets: [1], warmGets: 0, readUnits: 7, times: 1000 },
  { name: 'the newest 100 lines of an app', coldGets: [7], warmGets: 0, readUnits: 7, times: 1000 },
  { name: 'a text that is nowhere; in 7 lines', coldGets: [7, 14], warmGets: 0, readUnits: 7, times: 1000 },
  {
    name: '`json` with a filter, by status, of one app',
    coldGets: [49],
    warmGets: 0,
    readUnits: 7,
    times: 1000,
  },
  {
    name: 'a regular expression over a namespace, 1,000 lines',
    coldGets: [199],
    warmGets: 139,
    readUnits: 7,
    times: 1000,
  },
  {
    name: 'the dearest of the suite (json_first_filter)',
    coldGets: [281],
    warmGets: 184,
    readUnits: 7,
    times: 1000,
  },
  { name: '**all 23, one after the other**', coldGets: [1348], warmGets: 405, readUnits: 156, times: 1000 },
];

/** Counted by the same benchmark: a GB in pushes of 0.5 MB, and one flush that merges and indexes it. */
export const REQUESTS_OF_INGEST = {
  puts: 902,
  writeUnits: 1459,
  mergeGets: 2150,
  mergePuts: 10,
  mergeWriteUnits: 3062,
} as const;

/**
 * Requests of a compaction run with work, for one tenant and day: acquiring and releasing a lease, and
 * reading the records.
 */
export const MERGE_RUN = { writeUnits: 2, readUnits: 6 } as const;

export const CANARY = {
  /** Compared with the template by test/lib/cost-tests.ts. */
  everyMinutes: 5,
  memoryMb: 256,
  /** Counted: the second one reads the pushes of the previous round (test/functions/canary.test.ts). */
  queriesOfRound: 2,
  /** Assumed: it waits for three requests. */
  roundSeconds: 0.3,
  writeUnitsOfPush: 2,
  readUnitsOfQuery: QUERY.readUnitsPerDay,
  /** Assumed: same as a count. */
  querySeconds: 0.08,
} as const;

/** Machines of a fleet of the reference (docs/dev/cost-model.md#comparison). */
export const FLEET = {
  machines: 3,
  coresOfMachine: 2,
  hoursOfMonth: 730,
  /** Each entry is on three machines, two of them in other zones. */
  copies: 3,
  /** Transferred bytes between machines relative to the lines. Assumed. */
  sentShare: 1 / 3,
  /** Measured: CPU seconds of the reference per GB (docs/dev/benchmarks.md). */
  cpuSecondsPerGb: 27.9,
  peak: 3,
} as const;

/**
 * Measured by scripts/cold-start.mjs (2026-11-26): CPU time of a function from a cold start to its first
 * response, or until it is loaded. test/lib/cost-tests.ts compares the memory with the template.
 */
export const STARTS: readonly {
  readonly name: string;
  readonly codeKb: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly answers: boolean;
}[] = [
  { name: 'push', codeKb: 1018, cpuMs: 160, memoryMb: 1769, answers: true },
  { name: 'query', codeKb: 1373, cpuMs: 177, memoryMb: 3008, answers: true },
  { name: 'maintenance', codeKb: 1339, cpuMs: 193, memoryMb: 3008, answers: true },
  { name: 'status', codeKb: 612, cpuMs: 117, memoryMb: 512, answers: true },
  { name: 'query-worker', codeKb: 744, cpuMs: 84, memoryMb: 1769, answers: false },
  { name: 'authorizer', codeKb: 230, cpuMs: 63, memoryMb: 1024, answers: false },
  { name: 'timer', codeKb: 431, cpuMs: 77, memoryMb: 256, answers: false },
  { name: 'first-token', codeKb: 206, cpuMs: 65, memoryMb: 256, answers: false },
  { name: 'all-in-one', codeKb: 1378, cpuMs: 198, memoryMb: 3008, answers: true },
  { name: 'tail-connect', codeKb: 1369, cpuMs: 126, memoryMb: 1024, answers: false },
  { name: 'tail-disconnect', codeKb: 1366, cpuMs: 134, memoryMb: 256, answers: false },
  { name: 'tail-dispatch', codeKb: 1396, cpuMs: 161, memoryMb: 1769, answers: true },
  { name: 'tail-default', codeKb: 3, cpuMs: 32, memoryMb: 128, answers: true },
  { name: 'canary', codeKb: 10, cpuMs: 33, memoryMb: 256, answers: false },
];
/** Memory of a function with one vCPU. */
export const PROCESSOR_MB = 1769;
