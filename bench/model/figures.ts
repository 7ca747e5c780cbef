/**
 * What the model reckons with: measured figures with where they were measured, limits of AWS, and what is only assumed. Lines of JSON
 * service logs, pushes as protobuf and snappy. Each stands in docs/dev/cost-model.md or docs/dev/benchmarks.md; none was measured in an account.
 */

/** Of pushes. */
export const PUSH = {
  /** Measured (`npm run bench -- ingest`): 17 to 19 from JSON, protobuf and OTLP, a process of its own. */
  cpuSecondsPerGb: 18,
  /** Assumed: waiting for S3 and DynamoDB, one after the other. */
  waitSeconds: 0.05,
  /** Measured: a body that was sent is as large as this part of its lines. */
  sentShare: 0.32,
  memoryGb: 1769 / 1024,
  /** Of the gateway and Lambda: as sent (docs/reference/aws.md). */
  maxSentBytes: 4.4 * 1024 * 1024,
} as const;

/** Of merging and indexing: one flush of 512 MB in 979 pushes (docs/dev/benchmarks.md, "Requests and their price"). */
export const MERGE = {
  cpuSecondsPerGb: 80,
  /** 2,150 GETs for the 902 objects that the pushes of a GB were. */
  getsPerObject: 2.4,
  putsPerGb: 10,
  /** A transaction takes twice the units of what it deletes; once is in what a push writes (shared/server/usage/cost.ts). */
  writeUnitsPerRecordUnit: 1,
  /** Of lease, day and output, for each merge of up to 97 chunks. */
  writeUnitsPerMerge: 15,
  chunksPerMerge: 97,
  memoryGb: 3008 / 1024,
  /** A lease lets one run at a time work on the day of a tenant (shared/upkeep/compaction/compactor.ts). */
  secondsPerTenantDay: 86_400,
} as const;

/** Stored bytes for each byte of lines, once merged: 103 MB of 512 MB. */
export const STORED_SHARE = 0.2;

/** Kinds of queries: figures of the suite over 512 MB, flushed. GETs and seconds grow with what is asked, but for `counts`. */
export interface QueryKind {
  readonly name: string;
  readonly example: string;
  /** Of all queries. Assumed: dashboards are mostly counts. */
  readonly share: number;
  /** Of a cold process, for each 512 MB of lines in the range. */
  readonly getsPer512Mb: number;
  /** Measured at 0.74 of the reference machine's speed: taken for a processor of Lambda without a correction. */
  readonly cpuSecondsPer512Mb: number;
}

export const QUERY_KINDS: readonly QueryKind[] = [
  {
    name: 'counts',
    example: 'count_over_time without a filter',
    share: 0.6,
    getsPer512Mb: 1,
    cpuSecondsPer512Mb: 0.018,
  },
  { name: 'rare text', example: '|= "needle"', share: 0.3, getsPer512Mb: 14, cpuSecondsPer512Mb: 0.01 },
  {
    name: 'much to look at',
    example: '| json | with several conditions',
    share: 0.1,
    getsPer512Mb: 281,
    cpuSecondsPer512Mb: 0.172,
  },
];
export const SUITE_BYTES = 512_000_000;

export const QUERY = {
  memoryGb: 3008 / 1024,
  workerMemoryGb: 1769 / 1024,
  /** Of the table, one after the other: version of deletes, records of a day before and after. Assumed: 10 ms each. */
  planSeconds: 0.03,
  readUnitsPerDay: 7,
  /** Records of a shard beyond this are more units: 4 shards of 4 KB, about 1 KB a merged chunk. */
  recordsPerReadUnit: 4,
  /** At most so many parts of one day (shared/read/query/tasks/plan-tasks.ts). */
  maxTasksOfDay: 200,
  /** Smaller ones are not handed out. */
  minTaskSeconds: 0.05,
  /** Assumed: what calling a warm function takes. */
  callSeconds: 0.02,
  /** Assumed: first byte of S3; a task reads so many at once. */
  getSeconds: 0.03,
  readsAtOnce: 8,
} as const;

/** A merged chunk: `compaction_target_size`, bytes stored. */
export const CHUNK_BYTES = 128 * 1024 * 1024;

/** Figures of the timer and of the jobs that it calls (functions/timer-handler.ts, docs/dev/cost-model.md, "An idle store"). */
export const IDLE = {
  /** Counted, in an idle store, for each call (test/functions/timer.test.ts); an empty read is a unit. */
  timerReads: 17,
  /** Assumed: these reads, most of them at once. */
  timerSeconds: 0.05,
  /** Counted in an emulator: 7 to 10 reads and 1 to 5 writes of a job without work. */
  jobReads: 8.5,
  jobWriteUnits: 3,
  /** Assumed, of a job without work in an instance that is there. */
  jobSeconds: 0.1,
  /** CPU time of maintenance from nothing to its answer, measured (docs/reference/aws.md, "Start of a function"), and waiting as assumed above. */
  startSeconds: 0.53,
  /** Written down by Lambda for each call: START, END and REPORT. */
  logBytesPerCall: 300,
  /** Jobs are called one a minute once an hour, so the first of them starts an instance, and the others find it. */
  startsPerHour: 1,
} as const;

/** Quotas of AWS as documented; most are raised on request (`soft`), those of a partition and a prefix are not. */
export const LIMITS = {
  gatewayPerSecond: 10_000,
  lambdaConcurrency: 1_000,
  tableWritesPerSecond: 40_000,
  partitionWritesPerSecond: 1_000,
  /** Shards of the records of a tenant's day (docs/dev/catalog.md#items). */
  partitionsOfTenantDay: 4,
  prefixPutsPerSecond: 3_500,
  prefixGetsPerSecond: 5_500,
} as const;

/** Measured: catalog item and object of a push of so many KB of lines; write units with the deletion (docs/dev/cost-model.md, "By batch size"). */
export interface ChunkOfPush {
  readonly kb: number;
  readonly name: string;
  readonly itemKb: string;
  /** Undefined: the chunk lies in the item. */
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

/** Counted by `npm run bench -- requests --mb 512`, for each query; `times` is how many the page shows the price of. */
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

/** Counted by the same: a GB in pushes of half a MB, and one flush that merges and indexes it. */
export const REQUESTS_OF_INGEST = {
  puts: 902,
  writeUnits: 1459,
  mergeGets: 2150,
  mergePuts: MERGE.putsPerGb,
  mergeWriteUnits: 3062,
} as const;

/** Of a run of compaction for one tenant and day that has work: a lease taken and given back, and the records read. */
export const MERGE_RUN = { writeUnits: 2, readUnits: 6 } as const;

export const CANARY = {
  /** Held to the template by test/lib/cost-tests.ts. */
  everyMinutes: 5,
  memoryMb: 256,
  /** Counted: the second one reads what the round before has pushed (test/functions/canary.test.ts). */
  queriesOfRound: 2,
  /** Assumed: it waits for three requests. */
  roundSeconds: 0.3,
  writeUnitsOfPush: 2,
  readUnitsOfQuery: QUERY.readUnitsPerDay,
  /** Assumed, as of a count. */
  querySeconds: 0.08,
} as const;

/** Of machines that run a fleet of the reference (docs/dev/cost-model.md, "Beside others"). */
export const FLEET = {
  machines: 3,
  coresOfMachine: 2,
  hoursOfMonth: 730,
  /** Each entry is on three machines, two of them in other zones. */
  copies: 3,
  /** Of the lines, as it goes from one to another. Assumed. */
  sentShare: 1 / 3,
  /** Measured: CPU seconds that the reference takes for a GB (docs/dev/benchmarks.md). */
  cpuSecondsPerGb: 27.9,
  peak: 3,
} as const;

/**
 * Measured by scripts/cold-start.mjs (2026-11-24): CPU time of a function from nothing to its first answer, or until it is loaded. The
 * memory is held to the template by test/lib/cost-tests.ts.
 */
export const STARTS: readonly {
  readonly name: string;
  readonly codeKb: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly answers: boolean;
}[] = [
  { name: 'push', codeKb: 1683, cpuMs: 310, memoryMb: 1769, answers: true },
  { name: 'query', codeKb: 1683, cpuMs: 317, memoryMb: 3008, answers: true },
  { name: 'maintenance', codeKb: 1686, cpuMs: 332, memoryMb: 3008, answers: true },
  { name: 'status', codeKb: 1683, cpuMs: 281, memoryMb: 512, answers: true },
  { name: 'query-worker', codeKb: 921, cpuMs: 150, memoryMb: 1769, answers: false },
  { name: 'authorizer', codeKb: 634, cpuMs: 129, memoryMb: 1024, answers: false },
  { name: 'timer', codeKb: 795, cpuMs: 143, memoryMb: 256, answers: false },
  { name: 'first-token', codeKb: 559, cpuMs: 119, memoryMb: 256, answers: false },
  { name: 'all-in-one', codeKb: 1686, cpuMs: 336, memoryMb: 3008, answers: true },
  { name: 'tail-connect', codeKb: 1692, cpuMs: 230, memoryMb: 1024, answers: false },
  { name: 'tail-disconnect', codeKb: 1690, cpuMs: 226, memoryMb: 256, answers: false },
  { name: 'tail-dispatch', codeKb: 1714, cpuMs: 296, memoryMb: 1769, answers: true },
  { name: 'tail-default', codeKb: 0.6, cpuMs: 26, memoryMb: 128, answers: true },
  { name: 'canary', codeKb: 7, cpuMs: 32, memoryMb: 256, answers: false },
];
/** Memory of a function that has one processor. */
export const PROCESSOR_MB = 1769;
