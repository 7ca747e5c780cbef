/**
 * Evaluates a group at consecutive instants without sending or storing anything, for unit tests of rules and
 * dry runs. It uses the scheduled evaluation, so the results are those that a schedule will have.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AlertState,
  type RuleGroup,
  type RuleState,
  ruleKey,
} from '../../storage/catalog/rule-group.ts';
import { newGroupRecord, type RuleSample } from '../../storage/catalog/rule-state.ts';
import { DEFAULT_RULER } from '../admin/config-ruler.ts';
import { evaluateInstant } from './evaluate.ts';
import type { RuleQuery } from './rule-query.ts';
import { NAME_LABEL } from './series-labels.ts';
import type { TemplateRunner } from './template/run-template.ts';

export interface ReplayParts {
  readonly query: RuleQuery;
  readonly templates: TemplateRunner;
  /** Ends the replay. */
  readonly signal: AbortSignal;
}

export interface ReplayedRule {
  readonly state: RuleState;
  /** Pending and firing alerts, and those that have just ended. */
  readonly alerts: readonly AlertState[];
  /**
   * Samples of a recording rule, and of others with the same name in the group, without the ends of series.
   */
  readonly samples: readonly RuleSample[];
}

export interface ReplayedInstant {
  readonly timeNs: bigint;
  /** Ordered like the group's rules. */
  readonly rules: readonly ReplayedRule[];
}

/** A placeholder, because samples are created only if an endpoint exists. */
const RECEIVERS = ['replay'];
/** Retries immediately, without waiting. */
const CLOCK = { nowMs: () => 0, nowNs: () => 0n, sleep: () => nextTurn() };

/**
 * @param instants ascending; the group has no state before the first one
 *
 * Rejects with the reason of the signal.
 */
export async function* replayGroup(
  group: RuleGroup,
  { query, templates, signal }: ReplayParts,
  instants: Iterable<bigint>,
): AsyncGenerator<ReplayedInstant> {
  const parts = { query, templates, clock: CLOCK, outage: DEFAULT_RULER };
  const stored = { tenant: 'replay', namespace: 'replay', group, version: 0 };
  let record = newGroupRecord(stored.namespace, group.name);
  for (const timeNs of instants) {
    const instant = { timeNs, afterOutage: false, receivers: RECEIVERS, notifies: false, signal };
    record = await evaluateInstant(parts, stored, { ...record, pending: [] }, instant);
    const samples = record.pending.flatMap(one => one.samples).filter(({ value }) => value !== 'stale');
    yield {
      timeNs,
      rules: group.rules.map((rule, index) => {
        const state = record.state.rules[ruleKey(rule, index)];
        const own =
          rule.kind === 'recording' ? samples.filter(one => one.labels[NAME_LABEL] === rule.record) : [];
        return { state, alerts: state.alerts, samples: own };
      }),
    };
  }
}
