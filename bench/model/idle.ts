/**
 * Cost of an unused stack from the schedules of its template, and the extra cost of its schedules once a
 * tenant pushes. Pure arithmetic, without a free tier. The caller counts the template's resources
 * (test/lib/cost-tests.ts).
 */
import { LIST_PRICES } from '../../shared/server/admin/prices.ts';
import { IDLE } from './figures.ts';

/** Schedule of the template. */
interface ScheduledCall {
  readonly everyMinutes: number;
  /** Memory of the function that it calls. */
  readonly memoryMb: number;
}

interface IdleStack {
  /** Timer of the template. */
  readonly timer: ScheduledCall;
  /** Jobs, with the minutes between two runs that find work. */
  readonly jobs: readonly { readonly everyMinutes: number }[];
  readonly jobMemoryMb: number;
}

interface CostRow {
  readonly what: string;
  readonly perMonth: number;
  readonly dollars: number;
}

const MINUTES_OF_MONTH = 30 * 24 * 60;
const HOURS_OF_MONTH = 30 * 24;
const MILLION = 1_000_000;
const GB = 1_000_000_000;

/** Minutes between two calls of a job without work: an hour, or its own interval if that is longer. */
const sweepOf = (everyMinutes: number) => everyMinutes * Math.ceil(60 / everyMinutes);

const gbSeconds = (calls: number, seconds: number, memoryMb: number) => (calls * seconds * memoryMb) / 1024;

/** Rows that add up to the month of a store without data, tails and rules. */
export function idleMonth({ timer, jobs, jobMemoryMb }: IdleStack): readonly CostRow[] {
  const ticks = MINUTES_OF_MONTH / timer.everyMinutes;
  const runs = jobs.reduce((sum, { everyMinutes }) => sum + MINUTES_OF_MONTH / sweepOf(everyMinutes), 0);
  const starts = HOURS_OF_MONTH * IDLE.startsPerHour;
  const timerGbs = gbSeconds(ticks, IDLE.timerSeconds, timer.memoryMb);
  const jobGbs =
    gbSeconds(runs - starts, IDLE.jobSeconds, jobMemoryMb) +
    gbSeconds(starts, IDLE.startSeconds, jobMemoryMb);
  const reads = ticks * IDLE.timerReads + runs * IDLE.jobReads;
  const writes = runs * IDLE.jobWriteUnits;
  const { schedulerCall, functionRequest, functionGbSecond, tableRead, tableWrite, logsIngested } =
    LIST_PRICES;
  return [
    {
      what: 'EventBridge Scheduler, calls',
      perMonth: ticks,
      dollars: (ticks * schedulerCall.price) / MILLION,
    },
    {
      what: 'requests of Lambda',
      perMonth: ticks + runs,
      dollars: ((ticks + runs) * functionRequest.price) / MILLION,
    },
    { what: 'the timer, GB-seconds', perMonth: timerGbs, dollars: timerGbs * functionGbSecond.price },
    { what: 'jobs without work, GB-seconds', perMonth: jobGbs, dollars: jobGbs * functionGbSecond.price },
    { what: 'reads of the table', perMonth: reads, dollars: (reads * tableRead.price) / MILLION },
    { what: 'write units of the table', perMonth: writes, dollars: (writes * tableWrite.price) / MILLION },
    {
      what: 'log lines of Lambda, bytes',
      perMonth: (ticks + runs) * IDLE.logBytesPerCall,
      dollars: ((ticks + runs) * IDLE.logBytesPerCall * logsIngested.price) / GB,
    },
  ];
}

/** Extra cost if jobs find work whenever they are due, for jobs that run while one tenant pushes. */
export function busyMonth(stack: IdleStack, busyJobs: IdleStack['jobs']): number {
  const runs = busyJobs.reduce(
    (sum, { everyMinutes }) =>
      sum + MINUTES_OF_MONTH / everyMinutes - MINUTES_OF_MONTH / sweepOf(everyMinutes),
    0,
  );
  const { functionRequest, functionGbSecond, tableRead, tableWrite, logsIngested } = LIST_PRICES;
  return (
    (runs *
      (functionRequest.price + IDLE.jobReads * tableRead.price + IDLE.jobWriteUnits * tableWrite.price)) /
      MILLION +
    gbSeconds(runs, IDLE.jobSeconds, stack.jobMemoryMb) * functionGbSecond.price +
    (runs * IDLE.logBytesPerCall * logsIngested.price) / GB
  );
}

export const sumOf = (rows: readonly CostRow[]) => rows.reduce((sum, { dollars }) => sum + dollars, 0);

/** Default stack; a test of the template verifies it. */
export const DEFAULT_STACK: IdleStack = {
  timer: { everyMinutes: 1, memoryMb: 256 },
  // Compaction, garbage collection, deletion, retention, index sync, rules.
  jobs: [1, 5, 1, 1, 5, 1].map(everyMinutes => ({ everyMinutes })),
  jobMemoryMb: 3008,
};
/** Compaction, index sync and garbage collection, which have work while a tenant pushes. */
export const BUSY_JOBS: IdleStack['jobs'] = [1, 5, 5].map(everyMinutes => ({ everyMinutes }));

/** Cost of CloudFront per GB of lines in pushes of `pushKb`, as sent. */
export function edgePerGb(pushKb: number, sentShare: number): number {
  const requests = 1_000_000 / pushKb;
  return sentShare * LIST_PRICES.edgeToOrigin.price + (requests * LIST_PRICES.edgeRequest.price) / MILLION;
}
