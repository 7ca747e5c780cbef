/**
 * What becomes of alerts when instants were missed: nobody knows whether their condition held meanwhile. What the
 * metrics system does with `for_outage_tolerance` and `for_grace_period` when it starts, done wherever there is a gap that
 * is not caught up; every gap that is caught up leaves no question.
 */
import type { AlertingRule, AlertState } from '../../storage/catalog/rule-group.ts';

export interface Outage {
  /** The newest instant before it. */
  readonly lastNs: bigint;
  /** The first one after it. */
  readonly timeNs: bigint;
}

export interface OutageRules {
  readonly forOutageToleranceNs: bigint;
  readonly forGracePeriodNs: bigint;
}

/** What fires goes on: whether it still should, the next result says. */
export function restoreAlerts(
  rule: AlertingRule,
  alerts: readonly AlertState[],
  { lastNs, timeNs }: Outage,
  { forOutageToleranceNs, forGracePeriodNs }: OutageRules,
): AlertState[] {
  const gapNs = timeNs - lastNs;
  return alerts.flatMap(alert => {
    if (alert.state !== 'pending') return [alert];
    // Also where `for` is shorter than the grace: it could fire no earlier than anew.
    if (gapNs > forOutageToleranceNs || rule.forNs < forGracePeriodNs) return [];
    const leftNs = rule.forNs - (lastNs - BigInt(alert.activeAtNs));
    const activeAtNs =
      leftNs < forGracePeriodNs ? timeNs + forGracePeriodNs - rule.forNs : BigInt(alert.activeAtNs) + gapNs;
    return [{ ...alert, activeAtNs: String(activeAtNs) }];
  });
}
