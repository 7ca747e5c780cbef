/** Assembles rule evaluation: the job with its queries, notification targets and remote write. */

import type { Limits } from '../../base/model/limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { HttpClient } from '../../base/ports/http-client.ts';
import type { QueryEngine } from '../../read/query/engine.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { RuleStore } from '../../storage/catalog/rule-group.ts';
import type { Job } from '../../upkeep/maintenance/jobs.ts';
import type { Config } from '../admin/config-fields.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import { alertmanagerOptions, alertmanagers } from '../rules/notify/alertmanager.ts';
import { remoteWriter } from '../rules/remote-write/remote-writer.ts';
import { addGroupMetrics, addRuleMetrics, newRuleFigures } from '../rules/rule-figures.ts';
import { ruleJob } from '../rules/rule-job.ts';
import { engineQuery } from '../rules/rule-query.ts';
import { templateRunner } from '../rules/template/run-template.ts';

interface RuleSources {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly store: RuleStore;
  readonly engine: Pick<QueryEngine, 'instant'>;
  readonly limitsOf: (tenant: string) => Limits;
  readonly http: HttpClient;
  readonly registry: MetricsRegistry;
}

/** Maximum interval for finding due groups, so that a group is at most this late. */
const MAX_POLL_MS = 5000;

export function rulesEveryMs({ ruler }: Config): number {
  return Math.min(ruler.pollIntervalMs, MAX_POLL_MS);
}

export function assembleRuleJob(sources: RuleSources): Job {
  const { config, catalog, clock, store, engine, limitsOf, http, registry } = sources;
  const { ruler } = config;
  const figures = newRuleFigures();
  addRuleMetrics(registry, figures);
  const sending = { http, clock };
  const writer = remoteWriter(sending, ruler.remoteWrite);
  return ruleJob({
    store,
    states: catalog.ruleStates,
    leases: catalog.leases,
    clock,
    query: engineQuery({ engine, limitsOf, clock }),
    templates: templateRunner(ruler),
    outage: ruler,
    notify: alertmanagers(sending, alertmanagerOptions(ruler)),
    writer,
    writesSeries: tenant => !limitsOf(tenant).rulerRemoteWriteDisabled,
    resendDelayNs: ruler.resendDelayNs,
    maxNotices: ruler.notificationQueueCapacity,
    evaluationIntervalNs: ruler.evaluationIntervalNs,
    everyMs: rulesEveryMs(config),
    figures,
    onGroups: addGroupMetrics(registry),
  });
}

/** Default HTTP client: fails every request, so that notifications and samples wait. */
export const NO_HTTP: HttpClient = {
  post: () => Promise.reject(new Error('this process has no HTTP client')),
};
