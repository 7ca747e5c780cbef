/**
 * Restores alerts after missed instants, because it is unknown whether their condition held meanwhile.
 * Prometheus does this with `for_outage_tolerance` and `for_grace_period` at its start. Logboom does it after
 * every gap that is not evaluated later.
 */
import type { AlertingRule, AlertState } from '../../storage/catalog/rule-group.ts';

interface Outage {
  /** Newest instant before the gap. */
  readonly lastNs: bigint;
  /** First instant after the gap. */
  readonly timeNs: bigint;
}

export interface OutageRules {
  readonly forOutageToleranceNs: bigint;
  readonly forGracePeriodNs: bigint;
}

/** Firing alerts stay. The next result decides whether they still fire. */
export function restoreAlerts(
  rule: AlertingRule,
  alerts: readonly AlertState[],
  { lastNs, timeNs }: Outage,
  { forOutageToleranceNs, forGracePeriodNs }: OutageRules,
): AlertState[] {
  const gapNs = timeNs - lastNs;
  return alerts.flatMap(alert => {
    if (alert.state !== 'pending') return [alert];
    // Also if `for` is shorter than the grace period: the alert cannot fire earlier than a new one.
    if (gapNs > forOutageToleranceNs || rule.forNs < forGracePeriodNs) return [];
    const leftNs = rule.forNs - (lastNs - BigInt(alert.activeAtNs));
    const activeAtNs =
      leftNs < forGracePeriodNs ? timeNs + forGracePeriodNs - rule.forNs : BigInt(alert.activeAtNs) + gapNs;
    return [{ ...alert, activeAtNs: String(activeAtNs) }];
  });
}
