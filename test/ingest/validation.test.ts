/** Rules of docs/dev/wire-format.md#validation as one table: input, limits, response, stored entries and counters. */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import { PushColumns } from '../../shared/write/ingest/push-columns.ts';
import { streamOf } from '../../shared/write/ingest/stream-table.ts';
import { timestampOf } from '../../shared/write/ingest/timestamp.ts';
import { acceptedEntries } from './entries.ts';

const NOW = 1_704_164_645_500_000_000n; // 2024-01-02T03:04:05.5Z
const GRACE = 600_000_000_000n;

type Pair = readonly [name: string, value: string];
interface Given {
  /** Default: `{app="a"}`. */
  readonly labels?: readonly Pair[];
  readonly ns?: bigint;
  readonly line?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly backfillShard?: string;
}

/**
 * Decoded by hand, because some of these cases cannot come through any decoder. Includes an internal stream,
 * which is stored in any case because label rules do not apply to it.
 */
function accept(
  { labels = [['app', 'a']], ns = NOW, line = 'x', metadata = {}, backfillShard }: Given,
  limits: Limits,
) {
  const columns = new PushColumns(Buffer.alloc(0));
  columns.streams.push(streamOf([{ name: '__pattern__', value: 'good' }]));
  columns.streams.push(streamOf(labels.map(([name, value]) => ({ name, value }))));
  const add = (stream: number, atNs: bigint, text: string) => {
    const { day, timeOfDay } = timestampOf(atNs);
    const start = atOnce(columns.append(Buffer.from(text)));
    columns.addEntry(stream, day, timeOfDay, start, columns.bytes.length);
  };
  add(0, NOW, 'good');
  add(1, ns, line);
  for (const [name, value] of Object.entries(metadata)) {
    const start = atOnce(columns.append(Buffer.from(value)));
    columns.addPair(columns.nameId(name), start, columns.bytes.length);
  }
  return atOnce(acceptPush(columns, { tenant: 'acme', limits, nowNs: NOW, backfillShard }));
}

const S = '{app="a", service_name="a"}';
const label = (length: number, char = 'n') => char.repeat(length);
const numbered = (count: number, letter: string): Pair[] =>
  Array.from({ length: count }, (_, i) => [`${letter}${String(i).padStart(3, '0')}`, 'v']);
const textOf = (pairs: readonly Pair[]) =>
  `{${pairs.map(([name, value]) => `${name}="${value}"`).join(', ')}}`;
const UNKNOWN: Pair = ['service_name', 'unknown_service'];
const OLD = `entry for stream '${S}' has timestamp too old: `;
const OLDEST = ', oldest acceptable timestamp is: 2023-12-26T03:04:05Z';
const NEW = `entry for stream '${S}' has timestamp too new: `;
const see = (key: string, verb: string) =>
  `Please see \`limits_config.${key}\` or contact your Loki administrator to ${verb} it`;
const pairs = (count: number) => Object.fromEntries(numbered(count, 'm'));
const seventeen = numbered(16, 'l');
const POLICY = { policyStreamMapping: new Map([['p', [{ selector: '{app="a"}', priority: 1 }]]]) };
const OK = [undefined, ''] as const;

// [input, limits, message or undefined if it is stored, counted reason]; the good stream is always stored.
const rows: [string, Given, Partial<Limits>, string | undefined, string][] = [
  [
    'labels missing',
    { labels: [] },
    { discoverServiceName: [] },
    'error at least one label pair is required per stream',
    'missing_labels',
  ],
  ['labels missing, discovered', { labels: [] }, {}, ...OK],
  [
    'labels invalid',
    { labels: [['', 'v']] },
    { discoverServiceName: [] },
    `error parsing labels '{="v"}' with error: 1:2: parse error: unexpected "=" in label set, expected identifier or "}"`,
    'invalid_labels',
  ],
  ['15 labels and service_name', { labels: numbered(15, 'l') }, {}, ...OK],
  [
    '16 labels',
    { labels: seventeen },
    {},
    `entry for stream '${textOf([...seventeen, UNKNOWN])}' has 16 label names; limit 15`,
    'max_label_names_per_series',
  ],
  [
    '2 labels',
    {
      labels: [
        ['app', 'a'],
        ['b', 'c'],
      ],
    },
    { maxLabelNamesPerSeries: 1 },
    `entry for stream '{app="a", b="c", service_name="a"}' has 2 label names; limit 1`,
    'max_label_names_per_series',
  ],
  ['name of 1024 bytes', { labels: [[label(1024), 'v']] }, {}, ...OK],
  [
    'name of 1025 bytes',
    { labels: [[label(1025), 'v']] },
    {},
    `stream '${textOf([[label(1025), 'v'], UNKNOWN])}' has label name too long: '${label(1025)}'`,
    'label_name_too_long',
  ],
  ['value of 2048 bytes', { labels: [['zone', label(1024, 'é')]] }, {}, ...OK],
  [
    'value of 2050 bytes',
    { labels: [['zone', label(1025, 'é')]] },
    {},
    `stream '${textOf([UNKNOWN, ['zone', label(1025, 'é')]])}' has label value too long: '${label(1025, 'é')}'`,
    'label_value_too_long',
  ],
  [
    'a name twice',
    {
      labels: [
        ['b', '1'],
        ['b', '2'],
      ],
    },
    {},
    `stream '{b="1", b="2", service_name="unknown_service"}' has duplicate label name: 'b'`,
    'duplicate_label_names',
  ],
  [
    'internal streams skip these',
    {
      labels: [
        ['__pattern__', 'p'],
        ['b', '1'],
        ['b', label(3000)],
      ],
    },
    { enforcedLabels: ['team'] },
    ...OK,
  ],
  [
    'too many names before a name too long',
    {
      labels: [
        ['app', 'a'],
        [label(9), 'c'],
      ],
    },
    { maxLabelNamesPerSeries: 1, maxLabelNameLength: 8 },
    `entry for stream '{app="a", nnnnnnnnn="c", service_name="a"}' has 2 label names; limit 1`,
    'max_label_names_per_series',
  ],
  ['enforced labels, all there', {}, { enforcedLabels: ['service_name'] }, ...OK],
  [
    'an enforced label',
    {},
    { enforcedLabels: ['service_name', 'team'] },
    `missing required labels 'team' for user 'acme' for stream '${S}' (policy: '')`,
    'missing_enforced_labels',
  ],
  [
    'enforced by all',
    {},
    {
      ...POLICY,
      enforcedLabels: ['team', 'good'],
      policyEnforcedLabels: new Map([
        ['p', ['x', 'team']],
        ['q', ['y']],
        ['*', ['service_name', 'z']],
      ]),
    },
    `missing required labels 'team,good,z,x' for user 'acme' for stream '${S}' (policy: 'p')`,
    'missing_enforced_labels',
  ],
  [
    'labels wrong before enforced ones',
    { labels: [['app', label(9)]] },
    { maxLabelValueLength: 8, enforcedLabels: ['good'] },
    `stream '{app="nnnnnnnnn", service_name="nnnnnnnnn"}' has label value too long: 'nnnnnnnnn'`,
    'label_value_too_long',
  ],
  ['as old as can be', { ns: NOW - 7n * NS_PER_DAY }, {}, ...OK],
  [
    'too old',
    { ns: NOW - 7n * NS_PER_DAY - 1n },
    {},
    `${OLD}2023-12-26T03:04:05Z${OLDEST}`,
    'greater_than_max_sample_age',
  ],
  [
    'older than an hour',
    { ns: NOW - 2n * NS_PER_DAY },
    { rejectOldSamplesMaxAgeNs: NS_PER_DAY / 24n },
    `${OLD}2023-12-31T03:04:05Z, oldest acceptable timestamp is: 2024-01-02T02:04:05Z`,
    'greater_than_max_sample_age',
  ],
  ['before 1970', { ns: -1n }, {}, `${OLD}1969-12-31T23:59:59Z${OLDEST}`, 'greater_than_max_sample_age'],
  ['old, allowed', { ns: 0n }, { rejectOldSamples: false }, ...OK],
  ['the oldest of all, allowed', { ns: -(2n ** 63n) }, { rejectOldSamples: false }, ...OK],
  ['old, by backfill', { ns: 0n, backfillShard: '7' }, {}, ...OK],
  ['as new as can be', { ns: NOW + GRACE }, {}, ...OK],
  ['too new', { ns: NOW + GRACE + 1n }, {}, `${NEW}2024-01-02T03:14:05Z`, 'too_far_in_future'],
  [
    'new, not allowed',
    { ns: NOW + 1n },
    { creationGracePeriodNs: 0n },
    `${NEW}2024-01-02T03:04:05Z`,
    'too_far_in_future',
  ],
  ['line of 256 KB', { line: label(262_144) }, {}, ...OK],
  [
    'line one byte longer',
    { line: label(262_145) },
    {},
    `max entry size '262144' bytes exceeded for stream '${S}' while adding an entry with length '262145' bytes`,
    'line_too_long',
  ],
  [
    'bytes count, not letters',
    { line: 'ééé' },
    { maxLineSize: 5 },
    `max entry size '5' bytes exceeded for stream '${S}' while adding an entry with length '6' bytes`,
    'line_too_long',
  ],
  ['no limit of lines', { line: label(262_145) }, { maxLineSize: 0 }, ...OK],
  ['metadata', { metadata: { a: 'b' } }, {}, ...OK],
  [
    'metadata, not allowed',
    { metadata: { a: 'b' } },
    { allowStructuredMetadata: false },
    `stream '${S}' includes structured metadata, but this feature is disallowed. ${see('allow_structured_metadata', 'enable')}`,
    'disallowed_structured_metadata',
  ],
  ['none, where not allowed', {}, { allowStructuredMetadata: false }, ...OK],
  ['metadata of 64 KB', { metadata: { a: label(65_535) } }, {}, ...OK],
  [
    'one byte more',
    { metadata: { a: label(65_536) } },
    {},
    `stream '${S}' has structured metadata too large: '65537' bytes, limit: '65536' bytes. ${see('max_structured_metadata_size', 'increase')}`,
    'structured_metadata_too_large',
  ],
  [
    'names and values, in bytes',
    { metadata: { éa: 'é12345' } },
    { maxStructuredMetadataSize: 9 },
    `stream '${S}' has structured metadata too large: '10' bytes, limit: '9' bytes. ${see('max_structured_metadata_size', 'increase')}`,
    'structured_metadata_too_large',
  ],
  [
    'detected_level does not count',
    { metadata: { detected_level: '123456', a: 'b' } },
    { maxStructuredMetadataSize: 2 },
    ...OK,
  ],
  ['no limit of size', { metadata: { a: label(70_000) } }, { maxStructuredMetadataSize: 0 }, ...OK],
  ['128 pairs', { metadata: pairs(128) }, {}, ...OK],
  [
    '129 pairs',
    { metadata: pairs(129) },
    {},
    `stream '${S}' has too many structured metadata labels: '129', limit: '128'. ${see('max_structured_metadata_entries_count', 'increase')}`,
    'structured_metadata_too_many',
  ],
  ['no limit of pairs', { metadata: pairs(129) }, { maxStructuredMetadataEntriesCount: 0 }, ...OK],
  [
    'the first check that fails: age',
    { ns: 0n, line: label(262_145), metadata: pairs(129) },
    {},
    `${OLD}1970-01-01T00:00:00Z${OLDEST}`,
    'greater_than_max_sample_age',
  ],
  [
    'the first check that fails: line',
    { line: label(262_145), metadata: pairs(129) },
    {},
    `max entry size '262144' bytes exceeded for stream '${S}' while adding an entry with length '262145' bytes`,
    'line_too_long',
  ],
  [
    'the first check that fails: not allowed',
    { metadata: pairs(129) },
    { allowStructuredMetadata: false },
    `stream '${S}' includes structured metadata, but this feature is disallowed. ${see('allow_structured_metadata', 'enable')}`,
    'disallowed_structured_metadata',
  ],
  [
    'the first check that fails: size',
    { metadata: pairs(129) },
    { maxStructuredMetadataSize: 1 },
    `stream '${S}' has structured metadata too large: '645' bytes, limit: '1' bytes. ${see('max_structured_metadata_size', 'increase')}`,
    'structured_metadata_too_large',
  ],
  [
    'the labels before the entry',
    {
      labels: [
        ['app', 'a'],
        ['b', 'c'],
      ],
      ns: 0n,
    },
    { maxLabelNamesPerSeries: 1 },
    `entry for stream '{app="a", b="c", service_name="a"}' has 2 label names; limit 1`,
    'max_label_names_per_series',
  ],
];

test.each(rows)('%s', (_, given, changes, message, reason) => {
  const limits = { ...DEFAULT_LIMITS, ...changes };
  const result = accept(given, limits);
  const { line = 'x', metadata = {} } = given;
  expect([result.error?.status, result.error?.message]).toEqual([message && 400, message]);
  expect(acceptedEntries(result.accepted).map(entry => entry.line)).toEqual(
    message === undefined ? ['good', line] : ['good'],
  );
  const metadataBytes = Buffer.byteLength(Object.entries(metadata).flat().join(''));
  const bytes = Buffer.byteLength(line) + metadataBytes;
  const policy = result.policyOf[1];
  expect(result.discards).toEqual(message === undefined ? [] : [{ reason, policy, entries: 1, bytes }]);
  expect([result.lineBytes, result.metadataBytes]).toEqual(
    message === undefined ? [4 + Buffer.byteLength(line), metadataBytes] : [4, 0],
  );
  // Decisions are kept by stream and limits: the same again, and another answer under other limits.
  expect(accept(given, limits).error?.message).toBe(message);
});

test('a decision belongs to its limits, and its message to its tenant', () => {
  const columns = () => {
    const made = new PushColumns(Buffer.from('x'));
    made.streams.push(shared);
    made.addEntry(0, 19_724, 0, 0, 1);
    return made;
  };
  const shared = streamOf([{ name: 'service_name', value: 's' }]);
  const strict = { ...DEFAULT_LIMITS, enforcedLabels: ['team'] };
  const errorOf = (tenant: string, limits: Limits) =>
    atOnce(acceptPush(columns(), { tenant, limits, nowNs: NOW })).error?.message;
  const missing = (tenant: string) =>
    `missing required labels 'team' for user '${tenant}' for stream '{service_name="s"}' (policy: '')`;
  expect(errorOf('one', strict)).toBe(missing('one'));
  expect(errorOf('two', strict)).toBe(missing('two'));
  expect(errorOf('one', DEFAULT_LIMITS)).toBeUndefined();
});
