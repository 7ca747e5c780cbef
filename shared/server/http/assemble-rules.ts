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
import { LocalRuleStore } from '../rules/local-rule-store.ts';
import { alertmanagerOptions, alertmanagers } from '../rules/notify/alertmanager.ts';
import { remoteWriter } from '../rules/remote-write/remote-writer.ts';
import { addGroupMetrics, addRuleMetrics, newRuleFigures } from '../rules/rule-figures.ts';
import { ruleJob } from '../rules/rule-job.ts';
import { engineQuery } from '../rules/rule-query.ts';
import { checkTemplate } from '../rules/template/check-template.ts';
import { templateRunner } from '../rules/template/run-template.ts';
import { type ContextParts, failureListener } from './assemble-parts.ts';
import type { HttpContext } from './context.ts';
import { rulesEveryMs } from './maintenance-options.ts';

interface RuleSources {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly store: RuleStore;
  readonly engine: Pick<QueryEngine, 'instant'>;
  readonly limitsOf: (tenant: string) => Limits;
  /** Default: notifications and samples wait. */
  readonly http?: HttpClient | undefined;
  readonly registry: MetricsRegistry;
}

/** Rules are in the catalog, unless the configuration names a local folder. */
export function assembleRules({
  config,
  catalog,
  clock,
  readRuleFiles: read,
  log,
}: Pick<ContextParts, 'config' | 'catalog' | 'clock' | 'readRuleFiles' | 'log'>): HttpContext['rules'] {
  const store =
    read === undefined
      ? catalog.ruleGroups
      : new LocalRuleStore({
          read,
          clock,
          pollMs: config.ruler.pollIntervalMs,
          check: checkTemplate,
          onBroken: failureListener('rule files', log),
        });
  return { store, states: catalog.ruleStates, checkTemplate };
}

export function assembleRuleJob(sources: RuleSources): Job {
  const { config, catalog, clock, store, engine, limitsOf, http = NO_HTTP, registry } = sources;
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

/** Fails every request, so that notifications and samples wait. */
const NO_HTTP: HttpClient = {
  post: () => Promise.reject(new Error('this process has no HTTP client')),
};
