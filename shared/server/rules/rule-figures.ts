/** Counters of rules in this process, for metrics. */

import type { StoredGroup } from '../../storage/catalog/rule-group.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';

export interface RuleFigures {
  evaluations: number;
  failedEvaluations: number;
  missed: number;
  notified: number;
  notifyFailures: number;
  samplesWritten: number;
  samplesDropped: number;
  writeFailures: number;
}

export function newRuleFigures(): RuleFigures {
  return {
    evaluations: 0,
    failedEvaluations: 0,
    missed: 0,
    notified: 0,
    notifyFailures: 0,
    samplesWritten: 0,
    samplesDropped: 0,
    writeFailures: 0,
  };
}

const HELP: Readonly<Record<keyof RuleFigures, readonly [name: string, help: string]>> = {
  evaluations: ['logboom_rule_evaluations_total', 'Rule evaluations.'],
  failedEvaluations: ['logboom_rule_evaluation_failures_total', 'Failed rule evaluations.'],
  missed: [
    'logboom_rule_group_missed_instants_total',
    'Evaluations of groups that were skipped after an outage.',
  ],
  notified: ['logboom_rule_alerts_sent_total', 'Alerts accepted by at least one Alertmanager.'],
  notifyFailures: ['logboom_rule_notification_failures_total', 'Failed requests to Alertmanagers.'],
  samplesWritten: ['logboom_rule_samples_written_total', 'Samples accepted by a remote write endpoint.'],
  samplesDropped: [
    'logboom_rule_samples_dropped_total',
    'Samples dropped because the remote write endpoint refused them, or because too many waited.',
  ],
  writeFailures: ['logboom_rule_remote_write_failures_total', 'Failed remote writes, which are retried.'],
};

export function addRuleMetrics(registry: MetricsRegistry, figures: RuleFigures): void {
  for (const [key, [name, help]] of Object.entries(HELP) as [
    keyof RuleFigures,
    readonly [string, string],
  ][]) {
    registry.counter({ name, help, read: () => [{ labels: {}, value: figures[key] }] });
  }
}

/** Groups with separate series. More would make a scrape several megabytes. */
const MAX_SHOWN_GROUPS = 10_000;

/** Adds the reference's metric of group sizes. Call the returned function with all groups. */
export function addGroupMetrics(registry: MetricsRegistry): (groups: readonly StoredGroup[]) => void {
  let known: readonly StoredGroup[] = [];
  registry.gauge<'rule_group' | 'user'>({
    name: 'loki_prometheus_rule_group_rules',
    help: 'Rules of a group.',
    labels: ['rule_group', 'user'],
    read: () =>
      known.slice(0, MAX_SHOWN_GROUPS).map(({ tenant: user, namespace, group: { name, rules } }) => ({
        labels: { rule_group: `${namespace};${name}`, user },
        value: rules.length,
      })),
  });
  return groups => {
    known = groups;
  };
}
