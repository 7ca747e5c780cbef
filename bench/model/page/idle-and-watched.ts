/** Cost of an unused store and of its surroundings: the sections of docs/dev/cost-model.md about a month. */
import { LIST_PRICES, type ListPrice } from '../../../shared/server/admin/prices.ts';
import { CANARY, IDLE, LIMITS, MERGE_RUN, PROCESSOR_MB, PUSH, QUERY, STARTS } from '../figures.ts';
import { BUSY_JOBS, busyMonth, DEFAULT_STACK, edgePerGb, idleMonth, sumOf } from '../idle.ts';
import { exact, functionSeconds, MINUTES_OF_MONTH, millionth, price, whole } from './figures-text.ts';

export function priceRows(): string[] {
  return Object.values(LIST_PRICES as Record<string, ListPrice>).map(
    ({ what, price: dollars, per, asOf }) => {
      return `| ${what} | ${dollars < 0.001 ? dollars.toFixed(10) : dollars} | ${per} | ${asOf} |`;
    },
  );
}

export function idleRows(): string[] {
  const rows = idleMonth(DEFAULT_STACK);
  const busy = busyMonth(DEFAULT_STACK, BUSY_JOBS);
  const calls = rows.find(({ what }) => what === 'requests of Lambda')!.perMonth;
  // Calls each job whenever it is due, and the dispatcher each minute.
  const blind = [...DEFAULT_STACK.jobs, { everyMinutes: 1 }].reduce(
    (sum, { everyMinutes }) => sum + MINUTES_OF_MONTH / everyMinutes,
    0,
  );
  const { writeUnits, readUnits } = MERGE_RUN;
  const looked =
    millionth(MINUTES_OF_MONTH * writeUnits, 'tableWrite') +
    millionth(MINUTES_OF_MONTH * readUnits, 'tableRead');
  return [
    `makes ${whole(calls)} calls of Lambda in 30 days, not ${whole(blind)}`,
    ...rows.map(({ what, perMonth, dollars }) => `| ${what} | ${whole(perMonth)} | ${dollars.toFixed(3)} |`),
    `| **an idle store** | | **${sumOf(rows).toFixed(2)}** |`,
    `${IDLE.timerSeconds} s for a call of the timer, ${IDLE.jobSeconds} s for a job without work`,
    `start of an instance an hour (${IDLE.startSeconds} s with its waiting)`,
    `another ${busy.toFixed(2)} a month`,
    `the records of the day (at least ${readUnits} read units, one for each 4 KB). That is ${looked.toFixed(2)} dollars a month`,
  ];
}

/** Counted in the template with everything enabled (test/lib/cost-tests.ts). */
export const WATCHED = { alarms: 16, metricsOfStack: 8, metricsOfRequests: 20 } as const;

/** Monthly dollars of all monitoring, without CloudFront and a key. */
function watchedParts() {
  const { alarms, metricsOfStack, metricsOfRequests } = WATCHED;
  return {
    alarms: alarms * price('alarm'),
    ofStack: metricsOfStack * price('metric'),
    ofRequests: metricsOfRequests * price('metric'),
    dashboard: price('dashboard'),
    canary: canaryMonth(),
    secret: price('secret'),
  };
}

/** Monthly dollars of everything that watches the store. */
export const monitoringMonth = () => Object.values(watchedParts()).reduce((sum, one) => sum + one, 0);

/** Canary rounds: its own calls, a push and two queries each, and the jobs that find work because of it. */
function canaryMonth(): number {
  const {
    everyMinutes,
    queriesOfRound,
    roundSeconds,
    memoryMb,
    writeUnitsOfPush,
    readUnitsOfQuery,
    querySeconds,
  } = CANARY;
  const rounds = MINUTES_OF_MONTH / everyMinutes;
  const queries = rounds * queriesOfRound;
  return (
    millionth(rounds, 'schedulerCall') +
    millionth(2 * rounds + queries, 'functionRequest') +
    millionth(rounds + queries, 'gatewayRequest') +
    functionSeconds(rounds * roundSeconds, memoryMb) +
    functionSeconds(rounds * PUSH.waitSeconds, PUSH.memoryGb * 1024) +
    functionSeconds(queries * querySeconds, QUERY.memoryGb * 1024) +
    millionth(rounds * writeUnitsOfPush, 'tableWrite') +
    millionth(queries * readUnitsOfQuery, 'tableRead') +
    busyMonth(DEFAULT_STACK, BUSY_JOBS)
  );
}

/** @param perGbMonth monthly cost of a GB per day in pushes of 1 MB */
export function aroundRows(perGbMonth: number): string[] {
  const { alarms, metricsOfStack, metricsOfRequests } = WATCHED;
  const parts = watchedParts();
  const all = monitoringMonth();
  const idle = sumOf(idleMonth(DEFAULT_STACK));
  const rounds = MINUTES_OF_MONTH / CANARY.everyMinutes;
  return [
    `| alarms | ${alarms} | ${parts.alarms.toFixed(2)} |`,
    `| figures of canary and backlog | ${metricsOfStack} metrics | ${parts.ofStack.toFixed(2)} |`,
    `| figures of requests, by function, group of routes and class of status | 2 for each that occurs, ${metricsOfRequests} at first | ${parts.ofRequests.toFixed(2)} |`,
    `| the dashboard | 1 | ${parts.dashboard.toFixed(2)} |`,
    `| the canary (\`canary=no\` removes it) | ${whole(rounds)} pushes, ${whole(rounds * CANARY.queriesOfRound)} queries, ${whole(rounds)} calls of ${CANARY.memoryMb} MB, and jobs that find work | ${parts.canary.toFixed(2)} |`,
    `| a secret with the token of the canary | 1 | ${parts.secret.toFixed(2)} |`,
    `| a key of your own (\`kmsKeyArn\`) | 1 | ${price('key').toFixed(2)} |`,
    `the default stack costs ${idle.toFixed(2)} while it is not used, and one with everything switched on about ${whole(all)} more`,
    `Below ${whole((all + idle) / perGbMonth)} GB a day in pushes of 1 MB`,
  ];
}

export function edgeSums(): string[] {
  return [
    `$${edgePerGb(1000, PUSH.sentShare).toFixed(4)} for a GB of lines in pushes of 1 MB`,
    `$${edgePerGb(10, PUSH.sentShare).toFixed(4)} in pushes of 10 KB`,
  ];
}

/** Sentences of docs/reference/aws.md. */
export function awsSums(): string[] {
  return [...awsSentences(), ...startRows()];
}

function startRows(): string[] {
  return STARTS.map(({ name, codeKb, cpuMs, memoryMb, answers }) => {
    const startMs = cpuMs / Math.min(1, memoryMb / PROCESSOR_MB);
    const costs = [functionSeconds(startMs, memoryMb), functionSeconds(cpuMs, PROCESSOR_MB)];
    const cells = [
      answers ? name : `${name}, loaded`,
      codeKb.toLocaleString('en-US'),
      cpuMs,
      whole(memoryMb),
    ];
    return `| ${[...cells, whole(startMs), ...costs.map(dollars => dollars.toFixed(3))].join(' | ')} |`;
  });
}

function awsSentences(): string[] {
  const rounds = MINUTES_OF_MONTH / CANARY.everyMinutes;
  const timerAt = (memoryMb: number) =>
    functionSeconds(MINUTES_OF_MONTH * IDLE.timerSeconds, memoryMb).toFixed(2);
  const { memoryMb } = DEFAULT_STACK.timer;
  return [
    `CloudFront asks $${edgePerGb(1000, PUSH.sentShare).toFixed(4)} for each GB of lines that passes it in pushes of 1 MB`,
    `The canary costs about ${whole(rounds)} pushes and ${whole(rounds * CANARY.queriesOfRound)} queries a month`,
    `The secret is $${exact(price('secret'))} a month`,
    `${memoryMb} MB are $${timerAt(memoryMb)} a month, 1,769 MB would be $${timerAt(1769)}`,
    `${whole(LIMITS.gatewayPerSecond)} requests/s of an account and region`,
    `${whole(LIMITS.tableWritesPerSecond)} read and write units/s of a table`,
    `${whole(LIMITS.prefixGetsPerSecond)} reads/s and ${whole(LIMITS.prefixPutsPerSecond)} writes/s of a prefix`,
    `the account's quota: ${whole(LIMITS.lambdaConcurrency)}`,
    `${(PUSH.maxSentBytes / 1024 / 1024).toFixed(1)} MiB as sent`,
  ];
}
