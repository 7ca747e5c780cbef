/**
 * docs/configuration.md and the code tell the same: every key stands in one row of the table of its section, with its
 * default as a file would write it, and no other key does. Long defaults stand in one block of YAML on the page, which
 * must itself be a configuration that changes nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import { formatConfig, parseConfig } from '../../shared/admin/config.ts';
import { DEFAULT_CONFIG, SECTIONS } from '../../shared/admin/config-fields.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
/** Of keys that belong to no section. */
const TOP = '';
/** A row of a table of keys: its key, and what the column of defaults says. */
const ROW = /^\| `([a-z0-9_]+)` \| (.*?) \| /;
const LONG = '[below](#long-defaults)';
const LONG_DEFAULTS = /^## Long defaults\n\n```yaml\n([\s\S]*?)^```$/m;

interface Documented {
  readonly section: string;
  readonly key: string;
  readonly shown: string;
}

/** Rows of the tables of keys, in the order of the page. */
function documentedKeys(): Documented[] {
  const found: Documented[] = [];
  let section: string | undefined;
  for (const line of PAGE.split('\n')) {
    const heading = /^## (?:`([a-z_]+)`|(.*))/.exec(line);
    if (heading !== null) section = heading[1] ?? (heading[2] === 'Top of the file' ? TOP : undefined);
    const row = ROW.exec(line);
    if (row !== null && section !== undefined) found.push({ section, key: row[1], shown: row[2] });
  }
  return found;
}

/** `section.key` → default, as `formatConfig` prints it. */
function defaultsOf(tree: Record<string, unknown>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, value] of Object.entries(tree)) {
    if (!Object.hasOwn(SECTIONS, name)) found.set(nameOf(TOP, name), value);
    else for (const [key, inner] of Object.entries(value as object)) found.set(nameOf(name, key), inner);
  }
  return found;
}

function nameOf(section: string, key: string): string {
  return section === TOP ? key : `${section}.${key}`;
}

/** Texts stand as they are, everything else and the empty text as JSON. */
function shownDefault(value: unknown): string {
  return `\`${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}\``;
}

const longText = LONG_DEFAULTS.exec(PAGE)?.[1] ?? '';
const long = defaultsOf(parseYaml(longText) as Record<string, unknown>);
const code = defaultsOf(formatConfig(DEFAULT_CONFIG, { mode: 'defaults' }));
const page = documentedKeys();

describe('docs/configuration.md', () => {
  test('has every key of the code once, and no other', () => {
    const names = page.map(({ section, key }) => nameOf(section, key));
    expect(names.sort()).toEqual([...code.keys()].sort());
  });

  test('says the defaults of the code', () => {
    const shown = page.map(({ section, key, shown }) => [nameOf(section, key), shown]);
    const expected = page.map(({ section, key }) => {
      const name = nameOf(section, key);
      return [name, long.has(name) ? LONG : shownDefault(code.get(name))];
    });
    expect(shown).toEqual(expected);
  });

  test('has long defaults in a block that changes nothing', () => {
    for (const [name, value] of long) expect([name, value]).toEqual([name, code.get(name)]);
    const read = parseConfig(longText, { name: 'configuration.md', environment: {} });
    expect(read).toEqual({ config: DEFAULT_CONFIG, warnings: [] });
  });
});
