/**
 * Lists on reference pages that come from code, each between two comments: `<!-- NAME: begin -->` and `<!-- NAME: end -->`. The text
 * around them is written by hand.
 */
import { DEFAULT_OTLP_RULE } from '../shared/base/model/limits.ts';
import { BUILTINS } from '../shared/execution/pipeline/template/builtins.ts';
import { RULE_FUNCTIONS } from '../shared/server/rules/template/functions.ts';
import { DEFAULT_FIELDS } from '../shared/write/ingest/receivers/field-options.ts';

interface ReferenceList {
  readonly page: string;
  readonly name: string;
  readonly text: string;
}

const FOLDER = 'docs/reference';
const GO_FUNCTIONS = new Map(BUILTINS);

export const LISTS: readonly ReferenceList[] = [
  {
    page: `${FOLDER}/otlp.md`,
    name: 'labels',
    text: `${coded(DEFAULT_OTLP_RULE.attributes ?? [])}.`,
  },
  {
    page: `${FOLDER}/receivers.md`,
    name: 'fields',
    text: [
      '| part | source |',
      '|---|---|',
      `| timestamp | the first of ${coded(DEFAULT_FIELDS.timeFields)} in the document (Elasticsearch bulk: \`@timestamp\` first). \`_time_field=a,b\` replaces the list. |`,
      `| line | the first of ${coded(DEFAULT_FIELDS.messageFields)} that is text, or the whole document. \`_msg_field\` replaces the list. |`,
      '| labels | the fields in the table below, and the Elasticsearch `index` without its date (`logs-2026.11.21` is `logs`). `_stream_fields=a,b` replaces the list. |',
      '| structured metadata | every other field |',
      '',
      '| field | label |',
      '|---|---|',
      ...[...fieldsByLabel()].map(([label, fields]) => `| ${coded(fields)} | \`${label}\` |`),
    ].join('\n'),
  },
  {
    page: `${FOLDER}/rules.md`,
    name: 'template functions',
    text: `${coded([...RULE_FUNCTIONS.keys()].filter(name => !GO_FUNCTIONS.has(name)).sort())}.`,
  },
];

/** The page with its lists. Throws if the place of one is missing. */
export function withLists(page: string, markdown: string): string {
  let text = markdown;
  for (const { name, text: list } of LISTS.filter(one => one.page === page)) {
    const [begin, end] = [`<!-- ${name}: begin -->\n`, `\n<!-- ${name}: end -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`${page} has no place for the list ${name}`);
    text = text.slice(0, from + begin.length) + list + text.slice(to);
  }
  return text;
}

function fieldsByLabel(): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [field, label] of DEFAULT_FIELDS.labelOfField) {
    fields.set(label, [...(fields.get(label) ?? []), field]);
  }
  return fields;
}

function coded(names: readonly string[]): string {
  return names.map(name => `\`${name}\``).join(', ');
}
