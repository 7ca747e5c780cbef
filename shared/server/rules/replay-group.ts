/**
 * Evaluates a group at instant after instant without sending or keeping anything: what unit tests of rules and dry runs
 * look at. It is the evaluation that runs on a schedule, so what they show is what will be.
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
  /** Ends it. */
  readonly signal: AbortSignal;
}

export interface ReplayedRule {
  readonly state: RuleState;
  /** Pending, firing, and those that have just ended. */
  readonly alerts: readonly AlertState[];
  /** Of a recording rule, and of others with the same name in the group; without the ends of series. */
  readonly samples: readonly RuleSample[];
}

export interface ReplayedInstant {
  readonly timeNs: bigint;
  /** In the order of the group's rules. */
  readonly rules: readonly ReplayedRule[];
}

/** Somebody has to be there, or no samples are made. */
const RECEIVERS = ['replay'];
/** Nobody waits here: what fails is asked again at once. */
const CLOCK = { nowMs: () => 0, nowNs: () => 0n, sleep: () => nextTurn() };

/** `instants` ascend; the group has no state before the first of them. Rejects with the reason of the signal. */
export async function* replayGroup(
  group: RuleGroup,
  { query, templates, signal }: ReplayParts,
  instants: Iterable<bigint>,
): AsyncGenerator<ReplayedInstant> {
  const parts = { query, templates, clock: CLOCK, outage: DEFAULT_RULER };
  const stored = { tenant: 'replay', namespace: 'replay', group, version: 0 };
  let record = newGroupRecord(stored.namespace, group.name);
  for (const timeNs of instants) {
    const instant = { timeNs, afterOutage: false, receivers: RECEIVERS, tells: false, signal };
    record = await evaluateInstant(parts, stored, { ...record, pending: [] }, instant);
    const samples = record.pending.flatMap(one => one.samples).filter(({ value }) => value !== 'stale');
    yield {
      timeNs,
      rules: group.rules.map((rule, place) => {
        const state = record.state.rules[ruleKey(rule, place)];
        const own =
          rule.kind === 'recording' ? samples.filter(one => one.labels[NAME_LABEL] === rule.record) : [];
        return { state, alerts: state.alerts, samples: own };
      }),
    };
  }
}
