/** What the rules of this process have done, for metrics. Counted once, read by whoever scrapes. */

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
  evaluations: ['logboom_rule_evaluations_total', 'Rules that were evaluated, at one instant each.'],
  failedEvaluations: ['logboom_rule_evaluation_failures_total', 'Rules that could not be evaluated.'],
  missed: [
    'logboom_rule_group_missed_instants_total',
    'Instants of groups that were not caught up after an outage.',
  ],
  notified: ['logboom_rule_alerts_sent_total', 'Alerts that at least one receiver has taken.'],
  notifyFailures: [
    'logboom_rule_notification_failures_total',
    'Requests to receivers of alerts that failed.',
  ],
  samplesWritten: [
    'logboom_rule_samples_written_total',
    'Samples that a receiver of remote write has taken.',
  ],
  samplesDropped: [
    'logboom_rule_samples_dropped_total',
    'Samples that receivers refused, or that waited too long.',
  ],
  writeFailures: [
    'logboom_rule_remote_write_failures_total',
    'Remote writes that failed and are tried again.',
  ],
};

export function addRuleMetrics(registry: MetricsRegistry, figures: RuleFigures): void {
  for (const [key, [name, help]] of Object.entries(HELP) as [
    keyof RuleFigures,
    readonly [string, string],
  ][]) {
    registry.counter({ name, help, read: () => [{ labels: {}, value: figures[key] }] });
  }
}

/** Groups with a series each: beyond these a scrape would take megabytes. */
const MAX_SHOWN_GROUPS = 10_000;

/** The reference's metric of the size of each group; what it returns is to be told of all groups that there are. */
export function addGroupMetrics(registry: MetricsRegistry): (groups: readonly StoredGroup[]) => void {
  let known: readonly StoredGroup[] = [];
  registry.gauge<'rule_group' | 'user'>({
    name: 'loki_prometheus_rule_group_rules',
    help: 'Rules of a group, when groups were looked at last.',
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
