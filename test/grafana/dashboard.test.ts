/** docs/dashboards/logboom.json uses only metrics and labels that /metrics of a store has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routeName } from '../../shared/server/admin/metrics/request-metrics.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';

interface Target {
  readonly refId: string;
  readonly expr: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly Target[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
}

const PATH = join(import.meta.dirname, '../../docs/dashboards/logboom.json');
const board = JSON.parse(readFileSync(PATH, 'utf8')) as Dashboard;
const targets = board.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [title, expr]),
);
/** Prometheus gives each series the job of its scrape; a label of that name in the metric itself is renamed by it. */
const SCRAPED = new Set(['job', 'instance']);
const RENAMED: Readonly<Record<string, string>> = { exported_job: 'job' };
/** Suffixes of histograms, which the format adds. */
const SUFFIXES = ['_bucket', '_count', '_sum'];

let store: TestStore;
/** Type of each metric, and the labels of its series. */
const types = new Map<string, string>();
const labels = new Map<string, Set<string>>();

beforeAll(async () => {
  store = await startStore('auth_enabled: false\nlogboom: {query_workers: 0, inline_max_bytes: 0}');
  const nowMs = Date.now();
  await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [[`${nowMs}000000`, 'line']] }] }),
  });
  await store.client.send({ path: '/loki/api/v1/query_range', query: { query: '{app="a"}' } });
  const { text } = await store.client.send({ path: '/metrics' });
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type !== null) types.set(type[1], type[2]);
    const sample = /^([a-z_]+)(?:\{(.*)\})? /.exec(line);
    if (sample === null) continue;
    const known = labels.get(sample[1]) ?? new Set();
    for (const [, name] of (sample[2] ?? '').matchAll(/([a-z_]+)="/g)) known.add(name);
    labels.set(sample[1], known);
  }
}, 30_000);
afterAll(() => store.stop());

/** Names that an expression has outside of texts, without functions. */
function metricsOf(expr: string): string[] {
  return [...new Set(expr.match(/\b(?:loki|logboom)_[a-z_]+(?=\{)/g) ?? [])];
}

/** Labels of selectors and groupings. */
function labelsOf(expr: string): string[] {
  const inSelectors = [...expr.matchAll(/\{([^{}]*)\}/g)].flatMap(([, inner]) =>
    [...inner.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name]) => name),
  );
  const inGroups = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner]) => inner.split(/,\s*/));
  return [...new Set([...inSelectors, ...inGroups])];
}

describe('docs/dashboards/logboom.json', () => {
  test('names only existing routes', () => {
    const routes = [...new Set(ROUTES.map(({ path }) => routeName(path)))];
    const asked = targets.flatMap(([, expr]) =>
      [...expr.matchAll(/route=~?"([^"]*)"/g)].map(([, text]) => text),
    );
    expect(asked.length).toBeGreaterThan(5);
    for (const text of new Set(asked.flatMap(all => all.split(/\|(?![^(]*\))/)))) {
      expect([text, routes.some(route => new RegExp(`^(?:${text})$`).test(route))]).toEqual([text, true]);
    }
  });

  test('has the panels of each subject, each in a separate place', () => {
    expect([board.uid, board.title]).toEqual(['logboom', 'Logboom']);
    expect(board.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job']);
    const rows = board.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    for (const subject of [
      'errors',
      'Ingest',
      'Queries',
      'Caches',
      'tails',
      'Compaction',
      'Deletes',
      'Rules',
    ]) {
      expect(rows.some(title => title.includes(subject))).toBe(true);
    }
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    const cells = board.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, i) => `${x + (i % w)}/${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test.each(targets)('%s: %s', (_, expr) => {
    const metrics = metricsOf(expr);
    expect(metrics.length).toBeGreaterThan(0);
    // Users who scrape several stores choose one.
    expect(expr.match(/job=~"\$job"/g)?.length).toBe(expr.match(/\{[^{}]*\}/g)?.length);
    for (const metric of metrics) {
      const suffix = SUFFIXES.find(end => metric.endsWith(end) && !types.has(metric));
      const name = suffix === undefined ? metric : metric.slice(0, -suffix.length);
      const type = types.get(name);
      expect([metric, type]).toEqual([metric, suffix === undefined ? expect.any(String) : 'histogram']);
      // A counter makes sense by its rate alone, a gauge never by one.
      if (!metric.endsWith('_timestamp_seconds')) {
        const isRated = new RegExp(`rate\\(${metric}\\{`).test(expr);
        expect([metric, isRated]).toEqual([metric, type !== 'gauge' && type !== 'untyped']);
      }
      const known = labels.get(metric);
      for (const label of labelsOf(expr)) {
        if (SCRAPED.has(label) || known === undefined) continue;
        expect([metric, label, known.has(RENAMED[label] ?? label)]).toEqual([metric, label, true]);
      }
    }
  });
});
