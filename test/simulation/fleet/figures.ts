/**
 * Figures of a modeled account: times and costs of requests, workers and the query function. Each names its
 * source. None was measured in an account of AWS; "assumed" marks those that nothing here measures.
 */

const MIB = 1024 * 1024;

export const CHUNK = {
  /** `compaction_target_size` over the stored share. */
  lineBytes: 800 * MIB,
  /** Measured: 82.7 of 512 MB (docs/dev/decisions/0009-templates-and-columns.md). */
  storedShare: 0.16,
  /** Measured: footers of merged chunks, for a byte of lines (1.33 GB a TB). */
  footerShare: 1.33e-3,
  /** Measured: CPU of decoding footers (14 s for those of a TB), and what they take in memory (5.8 GB). */
  footerCpuMsPerGb: 14,
  footerHeapShare: 5.8e-3,
  /** A synthetic page represents 16 stored ones, so that a day of 10 TB fits into the simulator. */
  pageBytes: 16 * MIB,
  /** Average line of the benchmark's corpus. */
  bytesPerLine: 190,
  /**
   * Stored bytes that a scan of lines reads, for a byte of lines. Measured: 0.147 with the corpus of the benchmark driver,
   * 0.095 with that of `npm run bench -- stages tasks`.
   */
  scannedShare: 0.147,
} as const;

/**
 * Day index (docs/dev/index-format.md). Measured with 4,096 chunks of 40 streams and a minute each, in a process that
 * decodes its first index.
 */
export const INDEX = {
  /** Assumed: real streams and times compress less than those of the measurement, which took 9 bytes. */
  headBytesPerChunk: 250,
  countsBytesPerChunk: 510,
  /** CPU of decoding a head, and of a chunk's streams and counts, per chunk. */
  headCpuMs: 0.0077,
  countsCpuMs: 0.086,
} as const;

export const RECORD = {
  /** A kilobyte in the table, 1,000 of them in an answer of DynamoDB (1 MB). */
  perRequest: 1000,
  shards: 4,
  /** Assumed: a record with 256 hashes of label pairs as an object, and decoding it. */
  heapBytes: 2048,
  cpuMs: 0.005,
} as const;

/**
 * Latency of requests in ms: the median, and how often one is `slowFactor` times slower. Assumed, as published
 * for S3 and DynamoDB.
 */
export const LATENCY = {
  objectReadMs: 25,
  objectBytesPerMs: 90_000,
  tableReadMs: 8,
  slowShare: 0.01,
  slowFactor: 10,
  /** Width of the usual spread around the median, as a part of it. */
  spread: 0.3,
} as const;

export const QUERY_FUNCTION = {
  memoryBytes: 3008 * MIB,
  /** Assumed: code, caches and the garbage of an idle function. */
  idleHeapBytes: 250 * MIB,
  /** The function answers by then (docs/reference/aws.md). */
  deadlineMs: 28_000,
  connections: 128,
  /** Encoding a task and decoding its answer. Measured as 1 ms for both sides together (shared/read/query/tasks/plan-tasks.ts). */
  cpuMsPerTask: 0.5,
  /** Decoding and merging a result, CPU for a MB of it: measured with series of one minute and a label each. */
  cpuMsPerAnswerMb: 10,
} as const;

export const WORKER = {
  /**
   * One vCPU (https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html). Assumed: it is as fast as a core
   * of the machine on which scans were measured.
   */
  memoryGb: 1769 / 1024,
  /**
   * Bytes that a function receives, over all connections. AWS publishes no figure. Assumed: 600 Mbit/s. New environments
   * receive faster at first (https://arxiv.org/abs/2501.07771), which is not modeled.
   */
  bytesPerMs: 75_000,
  /** Measured: CPU of receiving a MB over TLS from another process, 16 MiB in a request. */
  receiveCpuMsPerMb: 2.1,
  /** Assumed: overhead of a function call. */
  callMs: 20,
  /** Assumed: delay of a call that needs a new environment. */
  coldStartMs: 450,
  /**
   * Billed part of it: loading the code. Measured (docs/reference/aws.md#start-of-a-function).
   * https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase/
   */
  initMs: 84,
  /** Share of lost workers: half of them fail immediately, half time out. Assumed. */
  lostShare: 0.001,
  hungMs: 20_000,
  /** Share of calls on a machine that is shared with other work. Assumed. */
  slowShare: 0.01,
  slowFactor: 6,
  /** Share of calls that are refused below the limit, while Lambda scales. Assumed. */
  throttledShare: 0.005,
} as const;

/**
 * Pause before a throttled request is sent again, doubled each time. Assumed, as the program waits
 * (shared/aws/clients.ts).
 */
export const THROTTLED = { firstWaitMs: 50, tries: 6 } as const;

/**
 * Request rate of a bucket for each prefix.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html
 */
export const PREFIX_READS_PER_MS = 5.5;

/** US list prices; see shared/server/admin/prices.ts for the date. */
export const PRICE = {
  getMillion: 0.4,
  readUnitMillion: 0.125,
  callMillion: 0.2,
  gbSecond: 0.0000133334,
  queryMemoryGb: 3008 / 1024,
} as const;

/** Queries. */
export interface Question {
  readonly name: string;
  /** `$range` is replaced by a window as long as the step. */
  readonly query: string;
  /** Pages that the text filters leave, of all. Assumed: 0.1% for a needle, which is what false positives leave. */
  readonly shareLeft: number;
  /**
   * CPU of a worker for a MB of lines, ms. Measured next to other work with `npm run bench -- stages tasks`, and with
   * the lines of the benchmark driver, the larger one: 1.4 for `(?i)` expressions, 1.64 for one without fixed text, 1.5
   * for `json`.
   */
  readonly cpuMsPerMb: number;
  /** Counted lines of a page: one in the given number; 0: one line in each remaining page. */
  readonly oneIn: number;
  /** Whether text filters are read. */
  readonly filterReads: boolean;
  /** Series of each task's result. Default: one. */
  readonly series?: number;
  /** Maximum entries of a log query, which returns the newest ones. Default: the query is a metric query. */
  readonly limit?: number;
}

export const QUESTIONS: readonly Question[] = [
  {
    name: 'needle',
    query: 'sum(count_over_time({app=~".+"} |= "4bf92f3577b34da6a3ce929d0e0e4736" [1m]))',
    shareLeft: 0.001,
    cpuMsPerMb: 1.4,
    oneIn: 0,
    filterReads: true,
  },
  {
    name: 'count by minute',
    query: 'sum(count_over_time({app=~".+"}[1m]))',
    shareLeft: 1,
    cpuMsPerMb: 1.4,
    oneIn: 1,
    filterReads: false,
  },
  {
    name: 'JSON filter',
    query: 'sum(count_over_time({app=~".+"} | json | status >= 500 [1m]))',
    shareLeft: 1,
    cpuMsPerMb: 1.5,
    oneIn: 50,
    filterReads: true,
  },
  {
    name: 'regular expression',
    query: 'sum(count_over_time({app=~".+"} |~ "[a-f]{3}[0-9]{2,}x?[a-f]" [1m]))',
    shareLeft: 1,
    cpuMsPerMb: 1.64,
    oneIn: 20,
    filterReads: false,
  },
  {
    name: 'expression by pod',
    query: 'sum by (pod) (count_over_time({app=~".+"} |~ "[a-f]{3}[0-9]{2,}x?[a-f]" [1m]))',
    shareLeft: 1,
    cpuMsPerMb: 1.64,
    oneIn: 20,
    filterReads: false,
    series: 5000,
  },
  {
    name: 'lines with a needle',
    query: '{app=~".+"} |= "4bf92f3577b34da6a3ce929d0e0e4736"',
    shareLeft: 0.001,
    cpuMsPerMb: 1.4,
    oneIn: 0,
    filterReads: true,
    limit: 1000,
  },
  {
    name: 'newest 100 lines',
    query: '{app=~".+"}',
    shareLeft: 1,
    cpuMsPerMb: 1.4,
    oneIn: 1,
    filterReads: false,
    limit: 100,
  },
];
