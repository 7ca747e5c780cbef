/** The life of alerts, instant by instant. */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import {
  alertSamples,
  DUPLICATE_ALERTS,
  evaluateAlerting,
  MAX_ALERTS,
  OverLimitError,
} from '../../shared/server/rules/alerting.ts';
import { restoreAlerts } from '../../shared/server/rules/restore.ts';
import { templateRunner } from '../../shared/server/rules/template/run-template.ts';
import type { AlertingRule, AlertState } from '../../shared/storage/catalog/rule-group.ts';

const templates = templateRunner({ externalLabels: {}, externalUrl: '' });
const RULE: AlertingRule = {
  kind: 'alerting',
  alert: 'Errors',
  expr: '',
  labels: { severity: 'page', note: '{{ $labels.app }}', gone: '' },
  annotations: { summary: '{{ $labels.app }}: {{ $value }}' },
  forNs: 2n * NS_PER_MINUTE,
  keepFiringForNs: 0n,
};

interface Life {
  readonly rule?: AlertingRule;
  /** Result of the query at each minute: values by app, or none. */
  readonly found: readonly (Readonly<Record<string, number>> | undefined)[];
  readonly notifies?: boolean;
  readonly limit?: number;
}

/** The alerts at each minute, from minute 1. */
function live({ rule = RULE, found, notifies = false, limit = 0 }: Life): AlertState[][] {
  let before: readonly AlertState[] = [];
  return found.map((values = {}, i) => {
    const samples = Object.entries(values).map(([app, value]) => ({ labels: { app, __name__: 'x' }, value }));
    const timeNs = BigInt(i + 1) * NS_PER_MINUTE;
    const after = evaluateAlerting({ rule, timeNs, found: samples, before, limit, templates, notifies });
    before = after;
    return after;
  });
}

const states = (life: AlertState[][]) => life.map(alerts => alerts.map(({ state }) => state).join(' '));
const minutes = (ns: string) => Number(BigInt(ns) / NS_PER_MINUTE);

test('an alert has the labels and texts of its rule', () => {
  const [[alert]] = live({ found: [{ shop: 3 }] });
  expect(alert).toMatchObject({
    labels: { app: 'shop', severity: 'page', note: 'shop', alertname: 'Errors' },
    annotations: { summary: 'shop: 3' },
    state: 'pending',
    value: 3,
  });
  expect(Object.keys(alert.labels).sort()).toEqual(['alertname', 'app', 'note', 'severity']);
});

test('it is pending for a time, fires, and is over', () => {
  const life = live({ found: [{ shop: 1 }, { shop: 2 }, { shop: 3 }, { shop: 4 }, {}, {}] });
  expect(states(life)).toEqual(['pending', 'pending', 'firing', 'firing', 'resolved', 'resolved']);
  const last = life[5][0];
  expect([last.activeAtNs, last.firedAtNs, last.resolvedAtNs].map(minutes)).toEqual([1, 3, 5]);
  expect(last.value).toBe(4);
});

test('without `for` it fires immediately', () => {
  expect(states(live({ rule: { ...RULE, forNs: 0n }, found: [{ shop: 1 }] }))).toEqual(['firing']);
});

test('forgets a pending alert, and restarts it', () => {
  const life = live({ found: [{ shop: 1 }, {}, { shop: 1 }, { shop: 1 }, { shop: 1 }] });
  expect(states(life)).toEqual(['pending', '', 'pending', 'pending', 'firing']);
});

test('a resolved condition that returns is another alert', () => {
  const rule = { ...RULE, forNs: NS_PER_MINUTE };
  const life = live({ rule, found: [{ shop: 1 }, { shop: 1 }, {}, { shop: 1 }, { shop: 1 }] });
  expect(states(life)).toEqual(['pending', 'firing', 'resolved', 'pending', 'firing']);
  expect(minutes(life[4][0].firedAtNs)).toBe(5);
  expect(life[4][0].lastSentNs).toBe('0');
});

test('keeps both if the end was never sent, and the older one until then', () => {
  const rule = { ...RULE, forNs: NS_PER_MINUTE };
  const found = [{ shop: 1 }, { shop: 1 }, undefined, { shop: 1 }, { shop: 1 }, undefined, undefined];
  const life = live({ rule, found, notifies: true });
  const wanted = ['pending', 'firing', 'resolved', 'resolved pending', 'resolved firing'];
  expect(states(life)).toEqual([...wanted, 'resolved resolved', 'resolved resolved']);
});

test('it fires on for keep_firing_for', () => {
  const rule = { ...RULE, forNs: 0n, keepFiringForNs: 2n * NS_PER_MINUTE };
  const life = live({ rule, found: [{ shop: 1 }, {}, {}, {}, { shop: 1 }, {}, { shop: 1 }, {}, {}] });
  const seen = ['firing', 'firing', 'firing', 'resolved', 'firing', 'firing', 'firing', 'firing', 'firing'];
  expect(states(life)).toEqual(seen);
});

test('keeps a resolved alert for 15 minutes, and longer if its end was never sent', () => {
  const rule = { ...RULE, forNs: 0n };
  const found = [{ shop: 1 }, ...Array.from({ length: 17 }, () => undefined)];
  const quiet = states(live({ rule, found }));
  expect([quiet[16], quiet[17]]).toEqual(['resolved', '']);
  expect(states(live({ rule, found, notifies: true }))[17]).toBe('resolved');
});

test('two results with the same labels are an error', () => {
  const rule = { ...RULE, labels: { app: 'same' } };
  expect(() => live({ rule, found: [{ a: 1, b: 2 }] })).toThrow(DUPLICATE_ALERTS);
});

test('too many alerts are an error', () => {
  expect(() => live({ found: [{ a: 1, b: 2, c: 3 }], limit: 2 })).toThrow(
    'exceeded limit of 2 with 3 alerts',
  );
  expect(() => live({ found: [{ a: 1, b: 2 }], limit: 2 })).not.toThrow();
  const many = Object.fromEntries(Array.from({ length: MAX_ALERTS + 1 }, (_, i) => [`a${i}`, 1]));
  expect(() => live({ found: [many] })).toThrow(OverLimitError);
});

test('alerts that are active have series', () => {
  const [, , alerts] = live({ found: [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1 }, { b: 1 }] });
  const labels = { alertname: 'Errors', severity: 'page' };
  expect(alertSamples(alerts)).toEqual([
    { labels: { ...labels, app: 'a', note: 'a', __name__: 'ALERTS', alertstate: 'firing' }, value: 1 },
    { labels: { ...labels, app: 'a', note: 'a', __name__: 'ALERTS_FOR_STATE' }, value: 60 },
    { labels: { ...labels, app: 'b', note: 'b', __name__: 'ALERTS', alertstate: 'pending' }, value: 1 },
    { labels: { ...labels, app: 'b', note: 'b', __name__: 'ALERTS_FOR_STATE' }, value: 120 },
  ]);
});

describe('after an outage', () => {
  const rules = { forOutageToleranceNs: 60n * NS_PER_MINUTE, forGracePeriodNs: 10n * NS_PER_MINUTE };
  const rule = { ...RULE, forNs: 30n * NS_PER_MINUTE };
  const pending = live({ rule, found: [{ shop: 1 }] })[0];
  // Pending since minute 1, seen last at minute `last`.
  const restored = (last: number, now: number, of: AlertingRule = rule) =>
    restoreAlerts(
      of,
      pending,
      { lastNs: BigInt(last) * NS_PER_MINUTE, timeNs: BigInt(now) * NS_PER_MINUTE },
      rules,
    ).map(({ activeAtNs }) => minutes(activeAtNs));

  test.each([
    ['what was pending for 5 minutes still was, whatever the outage', 6, 26, [21]],
    ['it fires no sooner than the grace period after it', 26, 36, [16]],
    ['a long outage begins `for` anew', 6, 67, []],
  ])('%s', (_, last, now, wanted) => {
    expect(restored(last, now)).toEqual(wanted);
  });

  test('a short `for` restarts', () => {
    expect(restored(2, 4, { ...rule, forNs: 5n * NS_PER_MINUTE })).toEqual([]);
  });

  test('a firing alert continues', () => {
    const firing = live({ rule: { ...RULE, forNs: 0n }, found: [{ shop: 1 }] })[0];
    expect(
      restoreAlerts(rule, firing, { lastNs: NS_PER_MINUTE, timeNs: 500n * NS_PER_MINUTE }, rules),
    ).toEqual(firing);
  });
});
