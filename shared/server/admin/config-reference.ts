/**
 * The page of all keys of the configuration (docs/reference/configuration.md), made from the tables that the program
 * reads by: a key that is missing on the page does not exist.
 */
import { stringify } from 'yaml';
import { formatConfig, OWN_SECTIONS } from './config.ts';
import { AUTH_FIELDS, DEFAULT_CONFIG, OLDER_RUNTIME_FIELDS, SECTIONS } from './config-fields.ts';
import type { Field } from './config-kinds.ts';
import type { AnyFields } from './config-reader.ts';

export const REFERENCE_PAGE = 'docs/reference/configuration.md';
/** Longer defaults would make a table unreadable; they stand in a block of YAML at the end. */
const MAX_SHOWN_DEFAULT = 60;
/** Of these types the page says once, at its top, what may be written. */
const PLAIN_TYPES: ReadonlySet<string> = new Set([
  'flag',
  'text',
  'list of texts',
  'duration',
  'size',
  'time',
]);
const HEAD = ['key', 'type', 'default', 'allowed', 'meaning'];
const OF_ALL = 'One value for the whole store.';
const PER_TENANT =
  'Limits of every tenant without overrides. Each key can be set in the overrides of a tenant.';
const OWN_NAMES = `${OF_ALL} All of these names are Logboom's own; one that is not here is an error.`;
const OWN = "no key of the reference's";

/** The page is written by hand up to this line. */
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
| list of texts | \`[app, job]\`, or one below the other with \`-\` |

Keys have the reference's names, but for the sections \`auth\` and \`logboom\` and where a row says so.
`;

type Tree = Readonly<Record<string, unknown>>;

/** The generated part of the page, with a line break at its end. */
export function configReference(): string {
  const defaults = formatConfig(DEFAULT_CONFIG, { mode: 'defaults' });
  const long: Record<string, unknown> = {};
  const pieces = [INTRODUCTION, '## Top of the file', '', table(AUTH_FIELDS as AnyFields, defaults, {}), ''];
  for (const [name, { fields }] of Object.entries(SECTIONS)) {
    const ofSection = defaults[name] as Tree;
    const longOnes = Object.fromEntries(Object.entries(ofSection).filter(([, value]) => isLong(value)));
    if (Object.keys(longOnes).length > 0) long[name] = longOnes;
    pieces.push(`## \`${name}\``, '', whose(name), '', table(fields as AnyFields, ofSection, longOnes), '');
    if (name === 'limits_config') {
      const older = Object.values(OLDER_RUNTIME_FIELDS as AnyFields);
      pieces.push(
        `Also read here: ${older.map(({ name, about }) => `\`${name}\` (${about})`).join(', ')}.`,
        '',
      );
    }
  }
  pieces.push('## Long defaults', '', '```yaml', stringify(long, { lineWidth: 110 }).trimEnd(), '```', '');
  return pieces.join('\n');
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
  { name, kind, unit, about, own = false }: Field<unknown>,
  value: unknown,
  isLong: boolean,
): string {
  return line([
    `\`${name}\``,
    unit === undefined ? kind.type : `${kind.type}, ${unit}`,
    isLong ? '[below](#long-defaults)' : `\`${shownDefault(value)}\``,
    PLAIN_TYPES.has(kind.type) ? '' : kind.expected.replace(/^(one of|a whole number) /, ''),
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

/** Texts stand as they are, everything else and the empty text as JSON. */
function shownDefault(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
