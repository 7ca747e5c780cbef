/** docs/dashboards/logboom-alerts.yaml: rules of Prometheus over metrics that a store, the canary or a scrape has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { createCanaryMetrics } from '../../shared/server/canary/canary-metrics.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const file = z
  .strictObject({
    groups: z.tuple([
      z.strictObject({
        name: z.string(),
        rules: z.array(
          z.strictObject({
            alert: z.string().regex(/^Logboom\w+$/),
            expr: z.string(),
            for: z
              .string()
              .regex(/^\d+m$/)
              .optional(),
            labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
            annotations: z.strictObject({ summary: z.string() }),
          }),
        ),
      }),
    ]),
  })
  .parse(parse(readFileSync(join(DOCS, 'dashboards/logboom-alerts.yaml'), 'utf8')));
const { rules } = file.groups[0];
/** Made from what a store answers at /metrics (test/docs/metrics-page.test.ts). */
const page = readFileSync(join(DOCS, 'reference/metrics.md'), 'utf8');
const KNOWN = new Set(['up', ...[...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)]);

beforeAll(async () => {
  const text = await createCanaryMetrics().registry.text();
  for (const [, name] of text.matchAll(/^# HELP (\S+)/gm)) KNOWN.add(name);
});

describe('docs/dashboards/logboom-alerts.yaml', () => {
  test.each(rules.map(({ alert, expr }) => [alert, expr]))('%s uses metrics that exist', (_alert, expr) => {
    const names = expr.match(/\b(?:loki|logboom)_\w+|\bup\b/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      expect([name, KNOWN.has(name) || KNOWN.has(name.replace(/_count$/, ''))]).toEqual([name, true]);
    }
  });

  test('names each alert once', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});
