/**
 * Replays a group over stored logs and prints when alerts changed state and how many samples were recorded.
 */

import { formatPrometheusDuration } from '../../../shared/base/model/duration.ts';
import { formatPlain } from '../../../shared/base/model/number.ts';
import {
  type ReplayedRule,
  type ReplayParts,
  replayGroup,
} from '../../../shared/server/rules/replay-group.ts';
import { ruleLabelsKey } from '../../../shared/server/rules/series-labels.ts';
import type { AlertingRule, AlertState, RuleGroup } from '../../../shared/storage/catalog/rule-group.ts';
import { labelText } from '../answer-text.ts';
import { CommandError } from '../command-error.ts';
import { countText } from '../count-text.ts';
import { millisecondText, type NsRange } from '../time-text.ts';

interface RuleDryRunOptions {
  readonly namespace: string;
  readonly range: NsRange;
  /** Interval of groups that do not define one, ns. */
  readonly intervalNs: bigint;
  /** Requests history for the range of the instants minus the group's query offset. */
  readonly partsOf: (range: { startNs: bigint; endNs: bigint; stepNs: bigint }) => ReplayParts;
}

/** Maximum evaluations of one group: five weeks of minutes. A longer range needs several runs. */
export const MAX_DRY_INSTANTS = 50_000n;

interface RuleTally {
  pending: number;
  firing: number;
  samples: number;
  readonly series: Set<string>;
  error: string;
}

/**
 * Yields lines with line breaks as they are computed, and returns the number of failed rules. Rejects with
 * the signal's reason.
 */
export async function* dryRunRules(
  group: RuleGroup,
  options: RuleDryRunOptions,
): AsyncGenerator<string, number> {
  const { namespace, range } = options;
  const stepNs = group.intervalNs > 0n ? group.intervalNs : options.intervalNs;
  const offsetNs = group.queryOffsetNs;
  // Range queries return values at multiples of their step.
  const startNs = ((range.startNs - offsetNs + stepNs - 1n) / stepNs) * stepNs + offsetNs;
  const count = range.endNs < startNs ? 0n : (range.endNs - startNs) / stepNs + 1n;
  const every = formatPrometheusDuration(stepNs);
  yield `${namespace}/${group.name}: ${countText(Number(count), 'evaluation')}, one every ${every}\n`;
  if (count === 0n) return 0;
  if (count > MAX_DRY_INSTANTS) {
    throw new CommandError(`too many evaluations (limit: ${MAX_DRY_INSTANTS}); choose a shorter range`);
  }
  const endNs = startNs + (count - 1n) * stepNs;
  const parts = options.partsOf({ startNs: startNs - offsetNs, endNs: endNs - offsetNs, stepNs });
  const tallies = group.rules.map(
    (): RuleTally => ({ pending: 0, firing: 0, samples: 0, series: new Set(), error: '' }),
  );
  const broken = new Set<number>();
  const before = group.rules.map((): readonly AlertState[] => []);
  for await (const { timeNs, rules } of replayGroup(group, parts, instants(startNs, endNs, stepNs))) {
    for (const [index, outcome] of rules.entries()) {
      const rule = group.rules[index];
      const tally = tallies[index];
      const time = millisecondText(timeNs);
      const { health, lastError } = outcome.state;
      const error = health === 'err' ? lastError : '';
      if (error !== '' && error !== tally.error)
        yield `  ${time} error      ${nameOf(rule)}: ${firstLine(error)}\n`;
      tally.error = error;
      if (error !== '') broken.add(index);
      if (rule.kind === 'alerting') {
        for (const line of changes(rule, before[index], outcome.alerts, tally)) yield `  ${time} ${line}\n`;
        before[index] = outcome.alerts;
      } else addSamples(outcome, tally);
    }
  }
  for (const [index, rule] of group.rules.entries()) {
    const { pending, firing, samples, series } = tallies[index];
    if (rule.kind === 'alerting')
      yield `  alert ${rule.alert}: pending ${times(pending)}, firing ${times(firing)}\n`;
    else yield `  record ${rule.record}: ${countText(samples, 'sample')} of ${series.size} series\n`;
  }
  return broken.size;
}

function addSamples({ samples }: ReplayedRule, tally: RuleTally): void {
  tally.samples += samples.length;
  for (const { labels } of samples) tally.series.add(ruleLabelsKey(labels));
}

/** Lines such as `firing     Name {labels} value 3`, for each alert whose state changed. */
function changes(
  rule: AlertingRule,
  before: readonly AlertState[],
  after: readonly AlertState[],
  tally: RuleTally,
): string[] {
  const lines: string[] = [];
  const left = new Map(before.filter(isActive).map(alert => [ruleLabelsKey(alert.labels), alert]));
  for (const alert of after) {
    const { labels, state, value } = alert;
    const was = left.get(ruleLabelsKey(labels))?.state;
    if (state === 'resolved') continue;
    left.delete(ruleLabelsKey(labels));
    if (was === state) continue;
    if (state === 'pending') tally.pending++;
    if (state === 'firing') tally.firing++;
    lines.push(`${state.padEnd(10)} ${alertText(rule, labels)} value ${formatPlain(value)}`);
  }
  for (const { labels, state } of left.values()) {
    lines.push(`${(state === 'firing' ? 'resolved' : 'inactive').padEnd(10)} ${alertText(rule, labels)}`);
  }
  return lines;
}

function isActive({ state }: AlertState): boolean {
  return state !== 'resolved';
}

function alertText({ alert }: AlertingRule, labels: AlertState['labels']): string {
  return `${alert} ${labelText(Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'alertname')))}`;
}

function nameOf(rule: RuleGroup['rules'][number]): string {
  return rule.kind === 'alerting' ? rule.alert : rule.record;
}

function* instants(startNs: bigint, endNs: bigint, stepNs: bigint): Generator<bigint> {
  for (let timeNs = startNs; timeNs <= endNs; timeNs += stepNs) yield timeNs;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}
