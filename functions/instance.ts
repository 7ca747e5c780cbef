/**
 * What a function instance counts and tells of itself: a record in the table with heartbeat and counters (read by the status
 * function), and lines of embedded metrics on standard output (read by CloudWatch). Both at most once a minute, within a
 * call, because between calls nothing runs.
 *
 *     AWS_LAMBDA_LOG_STREAM_NAME    names the instance: its lines are found by it
 *     AWS_LAMBDA_FUNCTION_NAME      its address on ring pages
 *     AWS_REGION                    its zone on ring pages
 *     LOGBOOM_EMBEDDED_METRICS      `false` leaves the lines away
 */

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
import type { Environment } from './settings.ts';

export interface InstanceParts {
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

export interface Instance {
  /** Told of requests by the dispatcher. */
  readonly observer: RequestObserver;
  /** Counts a call that is no request; `group` is of a small set. Throws what the work throws. */
  counted<T>(group: string, work: () => Promise<T>): Promise<T>;
  /** Tells where it is time to; the last of a call's work. Never rejects. */
  settle(): Promise<void>;
}

const COMPONENT_OF = new Map<string, string>(ROUTES.map(({ path, component }) => [path, component]));
/** Of a path that no route has. */
const NO_GROUP = 'other';

/** Each figure that is printed is paid by the hour. */
export function printsMetrics({ LOGBOOM_EMBEDDED_METRICS: metrics }: Environment): boolean {
  return metrics !== 'false';
}

export function createInstance(parts: InstanceParts): Instance {
  const { name, environment, catalog, metrics, clock, ids, log, onSettings, print } = parts;
  const { registry, requests } = metrics;
  const stream = environment.AWS_LAMBDA_LOG_STREAM_NAME || ids.randomHex(16);
  const calls = registry.counter<'function'>({
    name: 'logboom_function_invocations_total',
    help: 'Invocations of functions that ended.',
    labels: ['function'],
  });
  const starts = registry.counter<'function'>({
    name: 'logboom_function_starts_total',
    help: 'Instances of functions that were called at least once.',
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
