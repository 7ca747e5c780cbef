/**
 * One query of a modeled fleet, from the lookup of the catalog to the evaluated answer, in virtual time. Planning, pruning, the split into
 * tasks, the fan-out, retries and merging are the program's own (shared/read/query, shared/aws); the ports and the workers are modeled.
 */
import { DEFAULT_SLOTS, lambdaInvoker } from '../../../shared/aws/lambda-invoker.ts';
import { messageOf } from '../../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { MemoryBudget } from '../../../shared/base/model/memory-budget.ts';
import { MS_PER_DAY, NS_PER_HOUR, NS_PER_MINUTE } from '../../../shared/base/model/time-units.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import type { RangeAggregationExpr } from '../../../shared/language/logql/ast.ts';
import { parseQuery } from '../../../shared/language/logql/parse.ts';
import { runLogQuery } from '../../../shared/read/query/log-query.ts';
import { runMetricQuery } from '../../../shared/read/query/metric-query.ts';
import { compileMetricScan } from '../../../shared/read/query/metric-scan.ts';
import { newStatistics } from '../../../shared/read/query/statistics.ts';
import { encodeTaskAnswer } from '../../../shared/read/query/tasks/answer-codec.ts';
import { mergeChunks } from '../../../shared/read/query/tasks/merge-chunks.ts';
import {
  functionTaskSizes,
  MERGED_TASKS,
  type TaskSizes,
} from '../../../shared/read/query/tasks/plan-tasks.ts';
import { QueryWorkers } from '../../../shared/read/query/tasks/query-workers.ts';
import type { Task } from '../../../shared/read/query/tasks/task.ts';
import { decodeTask } from '../../../shared/read/query/tasks/task-codec.ts';
import { MAX_TASK_STATE_BYTES } from '../../../shared/read/query/tasks/task-runner.ts';
import { plainView } from '../../../shared/read/query/tenant-view.ts';
import { ALL_VISIBLE } from '../../../shared/read/query/visibility.ts';
import { Dice } from '../dice.ts';
import { VirtualTime } from '../virtual-time.ts';
import { PRICE, QUERY_FUNCTION, type Question, RECORD, WORKER } from './figures.ts';
import { type LambdaCounts, modeledLambda, type WorkerFaults } from './modeled-lambda.ts';
import { OutOfMemoryError, QueryFunction } from './query-function.ts';
import { plainCount, SyntheticCatalog, TENANT } from './synthetic-catalog.ts';
import { SyntheticSource } from './synthetic-source.ts';
import { taskOf, workOn } from './synthetic-worker.ts';
import { throttle } from './throttled-requests.ts';

interface FleetQuery {
  readonly seed: number;
  readonly bytesPerDay: number;
  readonly rangeHours: number;
  readonly question: Question;
  /** Concurrent calls of workers that the account allows. */
  readonly concurrency: number;
  /** Slots of the query function. Default: that of the program. */
  readonly slots?: number | undefined;
  /** Concurrent tasks of the query. Default: that of the program. */
  readonly maxParallelism?: number | undefined;
  readonly faults?: WorkerFaults;
  readonly sizes?: TaskSizes;
  /** Workers that are there already. Default: 0, so that each starts cold. */
  readonly warmWorkers?: number;
  /** Share of throttled requests to S3 (503) and DynamoDB (400). Default: 0. */
  readonly throttledShare?: number;
}

export interface FleetAnswer {
  /** `deadline` and `memory`: the query failed for it. */
  readonly end: 'answered' | 'deadline' | 'memory' | 'failed';
  readonly message: string;
  readonly ms: number;
  /** Lines that the answer counts, and that a plain evaluation counts. Undefined without an answer. */
  readonly lines: number | undefined;
  readonly plainLines: number;
  /**
   * Number of merged task results that contain a page, by `chunk/page`: one if all is well. Only successful
   * calls count.
   */
  readonly worked: ReadonlyMap<string, number>;
  readonly tasks: number;
  readonly requests: number;
  /** Reads of objects, by the query function and by workers. */
  readonly gets: number;
  /** Raw bytes that workers looked at. */
  readonly lineBytes: number;
  readonly dollars: number;
  /** Parts of `dollars`: time of workers, reads of objects. The rest is the query function, the table and calls. */
  readonly workerDollars: number;
  readonly getDollars: number;
  readonly heapBytes: number;
  readonly lambda: LambdaCounts;
}

/** The day after the newest of the catalog. */
const END_DAY = 20_000;
/** A query ends at its deadline; until then it may wake so often. */
const MAX_WAKES = 5_000_000;
const USUAL_FAULTS: WorkerFaults = WORKER;

export async function askFleet(query: FleetQuery): Promise<FleetAnswer> {
  const {
    seed,
    bytesPerDay,
    rangeHours,
    question,
    concurrency,
    faults = USUAL_FAULTS,
    throttledShare = 0,
  } = query;
  const dice = new Dice(seed);
  const clock = new VirtualTime(END_DAY * MS_PER_DAY, dice.fork(), MAX_WAKES);
  const fn = new QueryFunction(clock, dice.fork(), throttledShare);
  const catalog = new SyntheticCatalog(bytesPerDay, END_DAY);
  const worked = new Map<string, number>();
  let lineBytes = 0;
  const lambda = modeledLambda({
    clock,
    dice: dice.fork(),
    concurrency,
    faults,
    warm: query.warmWorkers,
    async work(event) {
      const bytes = taskOf(event);
      const merged = decodeTask(bytes);
      if ((merged.plannedByWorker?.parts ?? 1) > 1) return mergeOn(merged);
      const task = workOn(bytes, question);
      lineBytes += task.lineBytes;
      for (const page of task.pages) worked.set(page, (worked.get(page) ?? 0) + 1);
      const throttled = throttle(dice, task.reads, throttledShare);
      const reads = task.reads + throttled.repeats;
      return {
        result: { answer: Buffer.from(task.answer).toString('base64') },
        ms: Math.max(task.ms + throttled.waitMs, fn.waitForPrefixes(task.records, reads)),
        reads,
      };
    },
  });
  /** Work of the query function itself occupies its only thread. */
  const here: Invoker = {
    slots: 1,
    async invoke(bytes) {
      const task = workOn(bytes, question);
      lineBytes += task.lineBytes;
      for (const page of task.pages) worked.set(page, (worked.get(page) ?? 0) + 1);
      await fn.work(task.ms);
      return task.answer;
    },
    close: async () => undefined,
  };
  const invokerOf = (calls: number | undefined) =>
    lambdaInvoker({ client: () => lambda.client, functionName: 'query-worker', here, clock, slots: calls });
  /** A worker that calls others and merges their results. */
  async function mergeOn(task: Task) {
    const { request } = task;
    if (request.kind !== 'metric') throw new Error('only metric queries are merged');
    const node = parseQuery(request.query) as RangeAggregationExpr;
    const scan = compileMetricScan(node.range, { spec: request.spec, grouping: request.grouping, clock });
    let answerBytes = 0;
    const calls = invokerOf(MERGED_TASKS);
    const counted: Invoker = {
      ...calls,
      async invoke(part, options) {
        const answer = await calls.invoke(part, options);
        answerBytes += answer.length;
        return answer;
      },
    };
    const sizes = query.sizes ?? functionTaskSizes(MERGED_TASKS);
    await mergeChunks(task, {
      node,
      scan,
      view: plainView(TENANT),
      visible: ALL_VISIBLE,
      workers: new QueryWorkers(counted, { sizes: { ...sizes, mergedFrom: Infinity } }),
      memory: new MemoryBudget(MAX_TASK_STATE_BYTES),
      signal: deadline.signal,
      statistics: newStatistics(),
    });
    const { extractor, accumulator } = scan;
    const series = Array.from({ length: extractor.series.count }, (_, i) => extractor.series.labelsOf(i));
    const figures = newStatistics();
    const answered = { ranIn: 'worker', figures, reads: [], series, state: accumulator.encode() };
    const answer = Buffer.from(encodeTaskAnswer({ kind: 'metric', ...answered })).toString('base64');
    const { parts = 0 } = task.plannedByWorker ?? {};
    return { result: { answer }, ms: cpuOfMerging(parts, answerBytes), reads: 0 };
  }
  const invoker = invokerOf(query.slots);
  const billed: Invoker = {
    ...invoker,
    async invoke(task, options) {
      const answer = await invoker.invoke(task, options);
      await fn.work(cpuOfMerging(1, answer.length));
      return answer;
    },
  };
  // Every page is worked on by a task, so that what workers do is all there is.
  const workers = new QueryWorkers(billed, {
    sizes: { ...(query.sizes ?? functionTaskSizes(query.slots ?? DEFAULT_SLOTS)), inlineBytes: 0 },
  });
  const endNs = BigInt(END_DAY) * 24n * NS_PER_HOUR;
  const startNs = endNs - BigInt(rangeHours) * NS_PER_HOUR;

  const lookup = {
    async daysForQuery(_tenant: string, from: bigint, to: bigint) {
      const days = Number((to - from) / (24n * NS_PER_HOUR)) + 1;
      const count = catalog.countOf(from, to);
      // Shards and days are read side by side, the pages of one after each other.
      const deep = Math.ceil(count / days / RECORD.shards / RECORD.perRequest);
      fn.tableReads += deep * (days * RECORD.shards - 1);
      fn.hold(count * RECORD.heapBytes);
      await fn.readTable(deep);
      await fn.work(count * RECORD.cpuMs);
      return catalog.daysOf(from, to);
    },
  };
  const deadline = new AbortController();
  const request = {
    tenants: [TENANT],
    expr: parseQuery(question.query) as never,
    signal: deadline.signal,
    visibleOf: () => ALL_VISIBLE,
    maxParallelism: query.maxParallelism ?? DEFAULT_LIMITS.maxQueryParallelism,
  };
  const { limit } = question;
  const metric = {
    tenantsKey: TENANT,
    startNs: startNs + NS_PER_MINUTE,
    endNs,
    stepNs: NS_PER_MINUTE,
    instant: false,
    maxSeries: 0,
    partial: false,
  };
  const startedMs = clock.nowMs();
  const sources = { catalog: lookup, source: new SyntheticSource(fn, question), clock, workers };
  const statistics = newStatistics();
  const timeUp = new DOMException('the time of the query is over', 'TimeoutError');
  const isOver = clock.sleep(QUERY_FUNCTION.deadlineMs, deadline.signal).then(
    () => deadline.abort(timeUp),
    () => undefined,
  );
  const linesOfAnswer = async () => {
    if (limit === undefined)
      return sumOf(await runMetricQuery(sources, { ...request, ...metric }, statistics));
    const log = {
      range: { startNs: startNs + 1n, endNs },
      limit,
      backward: true,
      intervalNs: 0n,
      categorize: false,
    };
    const streams = await runLogQuery(sources, { ...request, ...log }, statistics);
    return streams.reduce((lines, { entries }) => lines + entries.length, 0);
  };
  const running = linesOfAnswer().then(
    lines => ({ end: 'answered' as const, message: '', lines }),
    (error: unknown) => ({ end: endOf(error, timeUp), message: messageOf(error), lines: undefined }),
  );
  const ended = await clock.run(running);
  const ms = clock.nowMs() - startedMs;
  deadline.abort(new Error('over'));
  await isOver;
  await clock.drain();
  const requests = fn.objectReads + lambda.counts.reads + fn.tableReads + lambda.counts.calls;
  return {
    ...ended,
    ms,
    plainLines: Math.min(limit ?? Infinity, plainCount(catalog.recordsOf(startNs + 1n, endNs), question)),
    worked,
    tasks: workers.figures.tasks,
    requests,
    gets: fn.objectReads + lambda.counts.reads,
    lineBytes,
    ...priceOf(fn, lambda.counts, ms),
    heapBytes: fn.peakHeapBytes,
    lambda: lambda.counts,
  };
}

/** CPU of encoding tasks, and of decoding and merging their results, ms. */
function cpuOfMerging(tasks: number, answerBytes: number): number {
  return tasks * QUERY_FUNCTION.cpuMsPerTask + (answerBytes / 1e6) * QUERY_FUNCTION.cpuMsPerAnswerMb;
}

function endOf(error: unknown, timeUp: DOMException): FleetAnswer['end'] {
  if (error === timeUp) return 'deadline';
  return error instanceof OutOfMemoryError ? 'memory' : 'failed';
}

function sumOf(result: Awaited<ReturnType<typeof runMetricQuery>>): number {
  if (result.kind !== 'matrix') throw new Error(`a matrix is expected, not a ${result.kind}`);
  let lines = 0;
  for (const { values } of result.series) for (const value of values) lines += value;
  return lines;
}

function priceOf(
  fn: QueryFunction,
  { calls, reads, workedMs }: LambdaCounts,
  ms: number,
): Pick<FleetAnswer, 'dollars' | 'workerDollars' | 'getDollars'> {
  const workerDollars = (workedMs / 1000) * WORKER.memoryGb * PRICE.gbSecond;
  const getDollars = ((fn.objectReads + reads) * PRICE.getMillion) / 1e6;
  const functionDollars = (ms / 1000) * PRICE.queryMemoryGb * PRICE.gbSecond;
  const readUnits = fn.tableReads * 128;
  const others = (readUnits * PRICE.readUnitMillion + calls * PRICE.callMillion) / 1e6;
  return { dollars: workerDollars + getDollars + functionDollars + others, workerDollars, getDollars };
}
