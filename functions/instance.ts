/**
 * Reports the state of a function instance, within a call and at most once a minute, because nothing runs
 * between calls. It writes a record with heartbeat and counters to the table, which the status function
 * reads. It also prints embedded metrics to standard output, which CloudWatch reads.
 *
 *     AWS_LAMBDA_LOG_STREAM_NAME    ID of the instance, which leads to its log lines
 *     AWS_LAMBDA_FUNCTION_NAME      its address on ring pages
 *     AWS_REGION                    its zone on ring pages
 *     LOGBOOM_EMBEDDED_METRICS      `false` disables the metrics lines
 */

import type { Environment } from '../shared/base/model/environment.ts';
import type { Clock, Ids } from '../shared/base/ports/clock.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { FunctionInstance } from '../shared/server/admin/function-instance.ts';
import { EmbeddedMetrics, statusClassOf } from '../shared/server/admin/metrics/embedded-metrics.ts';
import type { RequestObserver } from '../shared/server/admin/metrics/request-metrics.ts';
import type { SharedSettings } from '../shared/server/admin/shared-settings.ts';
import type { HttpContext } from '../shared/server/http/context.ts';
import { ROUTES } from '../shared/server/http/route-table.ts';
import type { Catalog } from '../shared/storage/catalog/catalog.ts';
import { type AnyFunctionName, componentsOfFunction } from './groups.ts';

interface InstanceParts {
  readonly name: AnyFunctionName;
  readonly environment: Environment;
  readonly catalog: Catalog;
  readonly metrics: HttpContext['metrics'];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly onSettings: (settings: SharedSettings) => void;
  readonly print: (line: string) => void;
}

export interface InstanceReporter {
  /** Receives the requests of the dispatcher. */
  readonly observer: RequestObserver;
  /**
   * Counts a call that is not an HTTP request. `group` must come from a small set. Throws the errors of
   * `work`.
   */
  counted<T>(group: string, work: () => Promise<T>): Promise<T>;
  /** Writes the report if one is due. Call it last. Never rejects. */
  settle(): Promise<void>;
}

const COMPONENT_OF = new Map<string, string>(ROUTES.map(({ path, component }) => [path, component]));
/** Group of requests that match no route. */
const NO_GROUP = 'other';

/** Embedded metrics can be disabled, because CloudWatch charges for each printed metric by the hour. */
export function printsMetrics({ LOGBOOM_EMBEDDED_METRICS: metrics }: Environment): boolean {
  return metrics !== 'false';
}

export function createInstanceReporter(parts: InstanceParts): InstanceReporter {
  const { name, environment, catalog, metrics, clock, ids, log, onSettings, print } = parts;
  const { registry, requests } = metrics;
  const stream = environment.AWS_LAMBDA_LOG_STREAM_NAME || ids.randomHex(16);
  const calls = registry.counter<'function'>({
    name: 'logboom_function_invocations_total',
    help: 'Completed function invocations.',
    labels: ['function'],
  });
  const starts = registry.counter<'function'>({
    name: 'logboom_function_starts_total',
    help: 'Function instances that served at least one invocation.',
    labels: ['function'],
  });
  const embedded = printsMetrics(environment)
    ? new EmbeddedMetrics({ functionName: name, nowMs: () => clock.nowMs(), print })
    : undefined;
  const member = new FunctionInstance({
    records: catalog.members.instances,
    states: catalog.states,
    clock,
    self: {
      id: `${name}/${stream}`,
      address: environment.AWS_LAMBDA_FUNCTION_NAME || name,
      zone: environment.AWS_REGION ?? '',
      components: componentsOfFunction(name),
    },
    text: () => registry.text(),
    onSettings,
    onBeat: () => embedded?.flush(),
    log,
  });
  let isStarted = false;
  const count = (group: string, statusClass: string, startedMs: number) => {
    embedded?.count({ group, statusClass, ms: clock.nowMs() - startedMs });
  };
  return {
    observer: {
      begin(request) {
        const end = requests.begin(request);
        const startedMs = clock.nowMs();
        const group = (request.path === undefined ? undefined : COMPONENT_OF.get(request.path)) ?? NO_GROUP;
        return answer => {
          end(answer);
          count(group, statusClassOf(answer.status), startedMs);
        };
      },
      defect: () => requests.defect(),
    },
    async counted(group, work) {
      const startedMs = clock.nowMs();
      let statusClass = 'failed';
      try {
        const result = await work();
        statusClass = 'ok';
        return result;
      } finally {
        count(group, statusClass, startedMs);
      }
    },
    settle() {
      if (!isStarted) starts.inc({ function: name });
      isStarted = true;
      calls.inc({ function: name });
      return member.beatIfDue();
    },
  };
}
