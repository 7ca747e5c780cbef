/** Alerts sent to Alertmanagers, the handling of their responses, and relabeling. */
import { describe, expect, test } from '@jest/globals';
import type { OutgoingRequest } from '../../shared/base/ports/http-client.ts';
import { DEFAULT_RULER, type RelabelConfig } from '../../shared/server/admin/config-ruler.ts';
import {
  ALERTS_AT_ONCE,
  alertmanagerOptions,
  alertmanagers,
  type Notice,
} from '../../shared/server/rules/notify/alertmanager.ts';
import { relabel } from '../../shared/server/rules/notify/relabel.ts';
import { manualClock } from '../support/manual-clock.ts';

const NOTICE = {
  labels: { alertname: 'Errors', app: 'shop' },
  annotations: { summary: 'text' },
  startsAtNs: 1_767_225_600_000_000_000n,
  endsAtNs: 1_767_225_840_500_000_000n,
  expr: 'count_over_time({a="b"}[1m])',
};
const RULE_BASE: RelabelConfig = {
  sourceLabels: [],
  separator: ';',
  regex: '(.*)',
  modulus: 0,
  targetLabel: '',
  replacement: '$1',
  action: 'replace',
};
const RULER = {
  ...DEFAULT_RULER,
  externalUrl: 'https://grafana.example/',
  datasourceUid: 'logs',
  externalLabels: { cluster: 'c1', app: 'loses' },
  alertmanagerUrl: 'http://one.example/am/, http://me:secret@two.example',
};

async function tell(
  answers: Readonly<Record<string, number>>,
  notices: readonly Notice[] = [NOTICE],
  ruler = RULER,
) {
  const asked: OutgoingRequest[] = [];
  const http = {
    post: async (request: OutgoingRequest) => {
      asked.push(request);
      return { status: answers[new URL(request.url).hostname.split('.')[0]], text: 'said' };
    },
  };
  const clock = { ...manualClock(), sleep: async () => undefined };
  const notify = alertmanagers({ http, clock }, alertmanagerOptions(ruler));
  const result = await notify?.('acme', notices, new AbortController().signal);
  return { asked, result };
}

const bodyOf = ({ body }: OutgoingRequest) => JSON.parse(Buffer.from(body).toString());

test('each receives all alerts, in the format of the API', async () => {
  const { asked, result } = await tell({ one: 200, two: 200 });
  expect(result).toEqual({ taken: [true], failures: [] });
  expect(asked.map(({ url }) => url)).toEqual([
    'http://one.example/am/api/v2/alerts',
    'http://two.example/api/v2/alerts',
  ]);
  expect(asked[0].headers).not.toHaveProperty('authorization');
  expect(asked[1].headers.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
  const [alert] = bodyOf(asked[0]);
  expect(alert).toEqual({
    labels: { alertname: 'Errors', app: 'shop', cluster: 'c1' },
    annotations: { summary: 'text' },
    startsAt: '2026-01-01T00:00:00Z',
    endsAt: '2026-01-01T00:04:00.5Z',
    generatorURL: expect.stringMatching(/^https:\/\/grafana\.example\/explore\?left=/),
  });
  const left = JSON.parse(new URL(alert.generatorURL).searchParams.get('left') ?? '');
  const datasource = { type: 'loki', uid: 'logs' };
  expect(left).toEqual({ queries: [{ expr: NOTICE.expr, queryType: 'range', datasource }] });
});

test('the link of an alert names a data source only if one is set', async () => {
  const notice = { ...NOTICE, expr: 'rate({app="a & b"} |= "<+>" [1m]) > 0' };
  const { asked } = await tell({ one: 200, two: 200 }, [notice], { ...RULER, datasourceUid: '' });
  const [{ generatorURL }] = bodyOf(asked[0]);
  expect(generatorURL).not.toContain('datasource');
  const left = JSON.parse(new URL(generatorURL).searchParams.get('left') ?? '');
  expect(left).toEqual({ queries: [{ expr: notice.expr, queryType: 'range' }] });
});

test('one success is enough; the other is retried, and reported', async () => {
  const { asked, result } = await tell({ one: 503, two: 200 });
  expect(result).toEqual({ taken: [true], failures: ['http://one.example/am/api/v2/alerts: 503 said'] });
  expect(asked).toHaveLength(4);
});

test('reports a failure if no Alertmanager accepts the alerts', async () => {
  const { result } = await tell({ one: 400, two: 500 });
  expect(result?.taken).toEqual([false]);
  expect(result?.failures.join()).not.toContain('secret');
});

test('many alerts go in several requests', async () => {
  const many = Array.from({ length: ALERTS_AT_ONCE + 1 }, (_, i) => ({
    ...NOTICE,
    labels: { i: String(i) },
  }));
  const ruler = { ...RULER, alertmanagerUrl: 'http://one.example' };
  const { asked, result } = await tell({ one: 200 }, many, ruler);
  expect(asked.map(request => bodyOf(request).length)).toEqual([ALERTS_AT_ONCE, 1]);
  expect(result?.taken.every(Boolean)).toBe(true);
});

test('a bearer token, and alerts that must not be sent', async () => {
  const ruler = {
    ...RULER,
    alertmanagerUrl: 'http://one.example',
    alertmanagerClient: { basic: undefined, authorization: 'Bearer abc' },
    alertRelabelConfigs: [{ ...RULE_BASE, sourceLabels: ['app'], regex: 'quiet', action: 'drop' as const }],
  };
  const quiet = { ...NOTICE, labels: { app: 'quiet' } };
  const { asked, result } = await tell({ one: 200 }, [quiet, NOTICE], ruler);
  expect(result?.taken).toEqual([true, true]);
  expect(bodyOf(asked[0])).toHaveLength(1);
  expect(asked[0].headers.authorization).toBe('Bearer abc');
});

test('without a URL nothing is sent', () => {
  const parts = { http: { post: () => Promise.reject(new Error('asked')) }, clock: manualClock() };
  expect(alertmanagers(parts, alertmanagerOptions(DEFAULT_RULER))).toBeUndefined();
});

describe('relabeling', () => {
  const LABELS = { a: 'one', b: 'TWO', old_x: 'x' };
  test.each<[string, Partial<RelabelConfig>, Record<string, string> | undefined]>([
    [
      'replace',
      { sourceLabels: ['a', 'b'], regex: '(.*);(.*)', targetLabel: 'c', replacement: '$2-$1' },
      { ...LABELS, c: 'TWO-one' },
    ],
    ['replace without a match', { sourceLabels: ['a'], regex: 'on', targetLabel: 'c' }, LABELS],
    [
      'replace with nothing takes away',
      { sourceLabels: ['a'], targetLabel: 'b', replacement: '' },
      { a: 'one', old_x: 'x' },
    ],
    ['keep', { sourceLabels: ['a'], regex: 'one|two', action: 'keep' }, LABELS],
    ['keep without a match', { sourceLabels: ['a'], regex: 'o', action: 'keep' }, undefined],
    ['drop', { sourceLabels: ['a'], regex: 'o.e', action: 'drop' }, undefined],
    ['labelmap', { regex: 'old_(.+)', replacement: 'new_$1', action: 'labelmap' }, { ...LABELS, new_x: 'x' }],
    ['labeldrop', { regex: 'old_.+', action: 'labeldrop' }, { a: 'one', b: 'TWO' }],
    ['labelkeep', { regex: 'a', action: 'labelkeep' }, { a: 'one' }],
    ['lowercase', { sourceLabels: ['b'], targetLabel: 'b', action: 'lowercase' }, { ...LABELS, b: 'two' }],
    ['uppercase', { sourceLabels: ['a'], targetLabel: 'd', action: 'uppercase' }, { ...LABELS, d: 'ONE' }],
    [
      'hashmod',
      { sourceLabels: ['a'], targetLabel: 'h', modulus: 1, action: 'hashmod' },
      { ...LABELS, h: '0' },
    ],
    ['keepequal', { sourceLabels: ['a'], targetLabel: 'b', action: 'keepequal' }, undefined],
    ['dropequal', { sourceLabels: ['a'], targetLabel: 'b', action: 'dropequal' }, LABELS],
  ])('%s', (_, config, wanted) => {
    expect(relabel(LABELS, [{ ...RULE_BASE, ...config }])).toEqual(wanted);
  });

  test('drops an alert without labels', () => {
    expect(relabel({ a: '1' }, [{ ...RULE_BASE, regex: 'a', action: 'labeldrop' }])).toBeUndefined();
  });
});
