/**
 * Runs one unit test of rules: pushes its input into an in-memory store, evaluates its groups, and compares
 * the results.
 */

import { formatPrometheusDuration } from '../../../shared/base/model/duration.ts';
import { type ReplayedInstant, replayGroup } from '../../../shared/server/rules/replay-group.ts';
import { templateRunner } from '../../../shared/server/rules/template/run-template.ts';
import type { AlertState, RuleGroup } from '../../../shared/storage/catalog/rule-group.ts';
import type { RuleSample } from '../../../shared/storage/catalog/rule-state.ts';
import { alertDifference, sampleDifference } from './differences.ts';
import { MAX_TEST_INSTANTS, type RuleTest } from './test-file.ts';
import { testStore } from './test-store.ts';

/** Report of a failed test, one line each; empty if it passed. */
export async function runRuleTest(test: RuleTest, groups: readonly RuleGroup[]): Promise<string[]> {
  const lastNs = latest(wantedTimes(test));
  const unknown = unknownNames(test, groups);
  if (unknown.length > 0) return unknown;
  const query = await testStore(test, lateEnough(test, lastNs));
  const { external_labels: externalLabels, external_url: externalUrl } = test;
  const parts = {
    query,
    templates: templateRunner({ externalLabels, externalUrl }),
    signal: new AbortController().signal,
  };
  const failures: string[] = [];
  const found = new Map<bigint, EvaluatedResults>();
  for (const at of wantedTimes(test)) found.set(at, { alerts: new Map(), samples: new Map() });
  for (const group of groups) {
    const intervalNs = group.intervalNs > 0n ? group.intervalNs : test.evaluation_interval;
    if (lastNs / intervalNs >= BigInt(MAX_TEST_INSTANTS)) {
      return [`group ${group.name} is evaluated more than ${MAX_TEST_INSTANTS} times until ${shown(lastNs)}`];
    }
    const broken = new Set<number>();
    for await (const instant of replayGroup(group, parts, instantsOf(test.start, lastNs, intervalNs))) {
      failures.push(...newErrors(test, group, instant, broken));
      const sinceNs = instant.timeNs - test.start;
      for (const [at, into] of found) {
        // The state at a time is the result of the newest evaluation.
        if (at >= sinceNs && at < sinceNs + intervalNs) addFound(into, group, instant);
      }
    }
  }
  for (const { at, alert, expect } of test.alerts) {
    const got = (found.get(at)?.alerts.get(alert) ?? []).filter(({ state }) => state !== 'resolved');
    failures.push(...titled(`alert ${alert} at ${shown(at)}`, alertDifference(alert, expect, got)));
  }
  for (const { at, record, expect } of test.samples) {
    const got = found.get(at)?.samples.get(record) ?? [];
    failures.push(...titled(`record ${record} at ${shown(at)}`, sampleDifference(expect, got)));
  }
  return failures;
}

interface EvaluatedResults {
  readonly alerts: Map<string, AlertState[]>;
  readonly samples: Map<string, RuleSample[]>;
}

function addFound({ alerts, samples }: EvaluatedResults, group: RuleGroup, instant: ReplayedInstant): void {
  const recorded = new Set<string>();
  group.rules.forEach((rule, index) => {
    const outcome = instant.rules[index];
    if (rule.kind === 'alerting') {
      alerts.set(rule.alert, [...(alerts.get(rule.alert) ?? []), ...outcome.alerts]);
    } else if (!recorded.has(rule.record)) {
      recorded.add(rule.record);
      samples.set(rule.record, [...(samples.get(rule.record) ?? []), ...outcome.samples]);
    }
  });
}

/** First error of each rule. A test that ignored one would prove nothing. */
function newErrors(
  { start }: RuleTest,
  group: RuleGroup,
  instant: ReplayedInstant,
  reported: Set<number>,
): string[] {
  return group.rules.flatMap((rule, index) => {
    const { health, lastError } = instant.rules[index].state;
    if (health !== 'err' || reported.has(index)) return [];
    reported.add(index);
    const name = rule.kind === 'alerting' ? `alert ${rule.alert}` : `record ${rule.record}`;
    return [`${name} cannot be evaluated at ${shown(instant.timeNs - start)}: ${lastError}`];
  });
}

/** Detects misspelled names, which would otherwise find nothing, as expected. */
function unknownNames({ alerts, samples }: RuleTest, groups: readonly RuleGroup[]): string[] {
  const rules = groups.flatMap(group => group.rules);
  const known = new Set(
    rules.map(rule => (rule.kind === 'alerting' ? `alert ${rule.alert}` : `record ${rule.record}`)),
  );
  const wanted = [
    ...alerts.map(({ alert }) => `alert ${alert}`),
    ...samples.map(({ record }) => `record ${record}`),
  ];
  return [...new Set(wanted)].filter(name => !known.has(name)).map(name => `no rule file has ${name}`);
}

function* instantsOf(start: bigint, lastNs: bigint, intervalNs: bigint): Generator<bigint> {
  for (let at = 0n; at <= lastNs; at += intervalNs) yield start + at;
}

function wantedTimes({ alerts, samples }: RuleTest): Set<bigint> {
  return new Set([...alerts, ...samples].map(({ at }) => at));
}

/** Time of the store, late enough that no entry is in its future. */
function lateEnough({ start, input }: RuleTest, lastNs: bigint): bigint {
  const ends = input.flatMap(({ entries }) =>
    entries.map(({ at, every }) => at + BigInt(every.count) * every.stepNs),
  );
  return start + latest([lastNs, ...ends]);
}

function latest(times: Iterable<bigint>): bigint {
  let last = 0n;
  for (const time of times) if (time > last) last = time;
  return last;
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`)];
}

function shown(ns: bigint): string {
  return formatPrometheusDuration(ns);
}
