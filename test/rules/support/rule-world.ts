/**
 * A store's rules in simulated time: a table in memory, logs whose values are others at each look (late entries), receivers
 * that remember, and processes that may die between any two calls to the outside.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MS_PER_MINUTE, NS_PER_MINUTE } from '../../../shared/base/model/time-units.ts';
import type { Clock } from '../../../shared/base/ports/clock.ts';
import type { HttpClient } from '../../../shared/base/ports/http-client.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Table } from '../../../shared/base/ports/table.ts';
import { DEFAULT_RULER } from '../../../shared/server/admin/config-ruler.ts';
import { alertmanagerOptions, alertmanagers } from '../../../shared/server/rules/notify/alertmanager.ts';
import { remoteWriter } from '../../../shared/server/rules/remote-write/remote-writer.ts';
import { newRuleFigures, type RuleFigures } from '../../../shared/server/rules/rule-figures.ts';
import { ruleJob } from '../../../shared/server/rules/rule-job.ts';
import type { RuleQuery } from '../../../shared/server/rules/rule-query.ts';
import { templateRunner } from '../../../shared/server/rules/template/run-template.ts';
import { Leases } from '../../../shared/storage/catalog/leases.ts';
import type { RuleGroup } from '../../../shared/storage/catalog/rule-group.ts';
import { RuleGroups } from '../../../shared/storage/catalog/rule-groups.ts';
import { RuleStates } from '../../../shared/storage/catalog/rule-states.ts';
import type { Job, JobOutcome } from '../../../shared/upkeep/maintenance/jobs.ts';
import { countingIds, manualClock } from '../../support/manual-clock.ts';
import { type Receivers, receivers } from './receivers.ts';

const START_MS = Date.UTC(2026, 0, 1);
/** Waits of retries end immediately. Those of leases and time limits are real. */
const SHORT_MS = 2000;

/** Called before and after each call to the outside; what it throws, the call throws. */
export type Meddle = (call: string, moment: 'before' | 'after') => void;

export class KilledError extends Error {}

/** Minutes of the run in which the logs of an app are there. */
export interface Logs {
  readonly [app: string]: (minute: number, look: number) => boolean;
}

export interface RuleProcess {
  readonly job: Job;
  readonly figures: RuleFigures;
  tick(): Promise<JobOutcome>;
}

export interface RuleWorld {
  readonly receivers: Receivers;
  readonly states: RuleStates;
  readonly groups: RuleGroups;
  advance(ms: number): void;
  process(meddle?: Meddle): RuleProcess;
}

export const GROUP: RuleGroup = {
  name: 'g',
  intervalNs: NS_PER_MINUTE,
  limit: 0,
  queryOffsetNs: 0n,
  rules: [
    { kind: 'recording', record: 'lines', expr: 'lines', labels: {} },
    {
      kind: 'alerting',
      alert: 'Errors',
      expr: 'errors',
      labels: {},
      annotations: { value: '{{ $value }}' },
      forNs: 2n * NS_PER_MINUTE,
      keepFiringForNs: 0n,
    },
  ],
};

export function ruleWorld(logs: Logs): RuleWorld {
  const manual = manualClock(START_MS);
  const clock: Clock = {
    ...manual,
    sleep: (ms, signal) => (ms < SHORT_MS ? nextTurn() : manual.sleep(ms, signal)),
  };
  const table = memoryTable({ clock });
  const told = receivers(manual);
  const ids = countingIds();
  let looks = 0;
  const query: RuleQuery = async (_tenant, expr, timeNs) => {
    const minute = Number((timeNs - BigInt(START_MS) * 1_000_000n) / NS_PER_MINUTE);
    const look = ++looks;
    const apps = Object.keys(logs).filter(app => logs[app](minute, look));
    // Each look finds more lines: entries come late.
    return apps.map(app => ({ labels: { app, expr }, value: minute * 1_000_000 + look }));
  };
  const groups = new RuleGroups({ table });

  return {
    receivers: told,
    groups,
    states: new RuleStates({ table }),
    advance: manual.advance,
    process(meddle = () => undefined) {
      const guard = guarded(meddle);
      const own = guardedTable(table, guard);
      const http: HttpClient = {
        post: request => guard(`post ${new URL(request.url).pathname}`, () => told.http.post(request)),
      };
      const figures = newRuleFigures();
      const sending = { http, clock };
      const clients = new Map([
        [
          'metrics',
          { url: 'http://metrics/write', headers: {}, timeoutMs: 1000, basic: undefined, authorization: '' },
        ],
      ]);
      const ruler = { ...DEFAULT_RULER, alertmanagerUrl: 'http://alerts' };
      const job = ruleJob({
        store: new RuleGroups({ table: own }),
        states: new RuleStates({ table: own }),
        leases: new Leases({ table: own, clock, ids }),
        clock,
        query: (...asked) => guard('query', () => query(...asked)),
        templates: templateRunner({ externalLabels: {}, externalUrl: '' }),
        outage: ruler,
        notify: alertmanagers(sending, alertmanagerOptions(ruler)),
        writer: remoteWriter(sending, { enabled: true, addOrgIdHeader: true, clients }),
        writesSeries: () => true,
        resendDelayNs: NS_PER_MINUTE,
        maxNotices: 1000,
        evaluationIntervalNs: NS_PER_MINUTE,
        everyMs: 5000,
        sweepEveryMs: 0,
        figures,
      });
      const bounds = () => ({ untilMs: clock.nowMs() + MS_PER_MINUTE, signal: new AbortController().signal });
      return { job, figures, tick: () => job.run(bounds()) };
    },
  };
}

type Guard = <T>(call: string, effect: () => Promise<T>) => Promise<T>;

function guarded(meddle: Meddle): Guard {
  return async (call, effect) => {
    meddle(call, 'before');
    const result = await effect();
    meddle(call, 'after');
    return result;
  };
}

function guardedTable(table: Table, guard: Guard): Table {
  return {
    get: key => guard(`get ${key.pk}`, () => table.get(key)),
    query: (pk, options) => guard(`query ${pk}`, () => table.query(pk, options)),
    put: (item, condition) => guard(`put ${item.pk}`, () => table.put(item, condition)),
    delete: (key, condition) => guard(`delete ${key.pk}`, () => table.delete(key, condition)),
    transact: writes => guard('transact', () => table.transact(writes)),
  };
}
