/**
 * Generates the page of all configuration keys (docs/reference/configuration.md) from the tables that the
 * program uses for reading. A key that is missing on the page does not exist.
 */
import { stringify } from 'yaml';
import { formatConfig, OWN_SECTIONS } from './config.ts';
import { AUTH_FIELDS, DEFAULT_CONFIG, OLDER_RUNTIME_FIELDS, SECTIONS } from './config-fields.ts';
import type { ConfigField } from './config-kinds.ts';
import type { AnyFields } from './config-reader.ts';

export const REFERENCE_PAGE = 'docs/reference/configuration.md';
/** Longer defaults are printed as YAML at the end of the page, because they would make a table unreadable. */
const MAX_SHOWN_DEFAULT = 60;
/** Types whose syntax the page describes once, at its top. */
const PLAIN_TYPES: ReadonlySet<string> = new Set([
  'flag',
  'string',
  'list of strings',
  'duration',
  'size',
  'time',
]);
const HEAD = ['key', 'type', 'default', 'allowed', 'meaning'];
const OF_ALL = 'One value for the whole store.';
const PER_TENANT =
  'Limits of every tenant without overrides. Each key can be set in the overrides of a tenant.';
const OWN_NAMES = `${OF_ALL} Only Logboom has these keys; an unknown key is an error.`;
const OWN = 'Loki has no such key';

/** The text before this line is written by hand. */
export const GENERATED_MARK =
  '<!-- Generated from here on by `node scripts/make-config-reference.ts`: do not edit below. -->\n';

const INTRODUCTION = `
## How values are written

| type | how it is written |
|---|---|
| flag | \`true\` or \`false\` |
| duration | \`30s\`, \`5m\`, \`1h30m\`, \`7d\`, \`1w\`; \`0\` |
| size | \`4096\`, \`512KB\`, \`10MB\`, \`1.5GB\`; 1 KB is 1024 bytes |
| time | \`2026-01-31\`, \`2026-01-31T12:00\` (both UTC), \`2026-01-31T12:00:00+01:00\`; \`0\` is none |
| list of strings | \`[app, job]\`, or one below the other with \`-\` |

Keys have the names that Loki uses, except in the sections \`auth\` and \`logboom\` and in rows that say so.
`;

type Tree = Readonly<Record<string, unknown>>;

/** Generated part of the page, with a line break at its end. */
export function configReference(): string {
  const defaults = formatConfig(DEFAULT_CONFIG, { mode: 'defaults' });
  const long: Record<string, unknown> = {};
  const parts = [INTRODUCTION, '## Top of the file', '', table(AUTH_FIELDS as AnyFields, defaults, {}), ''];
  for (const [name, { fields }] of Object.entries(SECTIONS)) {
    const ofSection = defaults[name] as Tree;
    const longOnes = Object.fromEntries(Object.entries(ofSection).filter(([, value]) => isLong(value)));
    if (Object.keys(longOnes).length > 0) long[name] = longOnes;
    parts.push(`## \`${name}\``, '', whose(name), '', table(fields as AnyFields, ofSection, longOnes), '');
    if (name === 'limits_config') {
      const older = Object.values(OLDER_RUNTIME_FIELDS as AnyFields);
      parts.push(
        `Also read here: ${older.map(({ name, about }) => `\`${name}\` (${about})`).join(', ')}.`,
        '',
      );
    }
  }
  parts.push('## Long defaults', '', '```yaml', stringify(long, { lineWidth: 110 }).trimEnd(), '```', '');
  return parts.join('\n');
}

function whose(section: string): string {
  if (section === 'limits_config') return PER_TENANT;
  return OWN_SECTIONS.has(section) ? OWN_NAMES : OF_ALL;
}

function table(fields: AnyFields, defaults: Tree, long: Tree): string {
  const rows = Object.values(fields).map(field => row(field, defaults[field.name], field.name in long));
  return [line(HEAD), `|${HEAD.map(() => '---').join('|')}|`, ...rows].join('\n');
}

function row(
  { name, kind, unit, about, own = false }: ConfigField<unknown>,
  value: unknown,
  isLong: boolean,
): string {
  return line([
    `\`${name}\``,
    unit === undefined ? kind.type : `${kind.type}, ${unit}`,
    isLong ? '[below](#long-defaults)' : `\`${shownDefault(value)}\``,
    PLAIN_TYPES.has(kind.type) ? '' : kind.expected.replace(/^(one of|a whole number|a number) (of )?/, ''),
    own ? `${about}; ${OWN}` : about,
  ]);
}

function line(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('<', '\\<')).join(' | ')} |`.replace(
    '|  |',
    '| |',
  );
}

function isLong(value: unknown): boolean {
  return shownDefault(value).length > MAX_SHOWN_DEFAULT;
}

/** Prints non-empty strings unchanged, and everything else as JSON. */
function shownDefault(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
