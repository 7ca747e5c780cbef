/** docs/reference/configuration.md is what the code makes of its tables, and its long defaults change nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { formatConfig, parseConfig } from '../../shared/server/admin/config.ts';
import { DEFAULT_CONFIG, SECTIONS } from '../../shared/server/admin/config-fields.ts';
import type { AnyFields } from '../../shared/server/admin/config-reader.ts';
import {
  configReference,
  GENERATED_MARK,
  REFERENCE_PAGE,
} from '../../shared/server/admin/config-reference.ts';

const [, PAGE] = readFileSync(join(import.meta.dirname, '../..', REFERENCE_PAGE), 'utf8').split(
  GENERATED_MARK,
);

describe(REFERENCE_PAGE, () => {
  test('is up to date; after a change of keys, run node scripts/make-config-reference.ts', () => {
    expect(PAGE).toBe(configReference());
  });

  test('has one row for each key that /config shows, with five cells', () => {
    const rows = PAGE.split('\n').filter(line => /^\| `[a-z0-9_]+` \|/.test(line));
    const keys = Object.entries(formatConfig(DEFAULT_CONFIG, { mode: 'full' })).flatMap(([name, value]) =>
      Object.hasOwn(SECTIONS, name) ? Object.keys(value as object) : [name],
    );
    expect(rows.map(row => /`([^`]+)`/.exec(row)?.[1]).sort()).toEqual(keys.sort());
    for (const row of rows) expect(row.split(/(?<!\\)\|/)).toHaveLength(7);
  });

  test('describes every key in a few words', () => {
    for (const { fields } of Object.values(SECTIONS)) {
      for (const { name, about, kind } of Object.values(fields as AnyFields)) {
        expect([name, about.length > 5, kind.expected !== '', /\.$/.test(about)]).toEqual([
          name,
          true,
          true,
          false,
        ]);
      }
    }
  });

  test('shows long defaults as a configuration that changes nothing', () => {
    const text = /^## Long defaults\n\n```yaml\n([\s\S]*?)^```$/m.exec(PAGE)?.[1] ?? '';
    expect(text).toContain('discover_service_name');
    const read = parseConfig(text, { name: 'page', environment: {} });
    expect(read).toEqual({ config: DEFAULT_CONFIG, warnings: [] });
  });
});
