/** If columns know a field of all counted rows, its values are found without reading a line. */
import { expect, test } from '@jest/globals';
import { detectValues } from '../../../shared/read/insight/detected/detect-values.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import { columnEngine, everyField, LINES_READ, LinelessSource } from './column-engine.ts';

type Given = string | Partial<DatedEntry>;

/** One a second, oldest first. */
function entriesOf(given: readonly Given[]): DatedEntry[] {
  return given.map((one, i) => {
    const entry = typeof one === 'string' ? { line: one } : one;
    return { stream: { app: 'a' }, day: DAY, time: i * 1e9, line: '', metadata: {}, ...entry };
  });
}

async function valuesOf(given: readonly Given[], query: string, name: string, lineLimit: number) {
  const engine = await columnEngine(entriesOf(given), {
    indexer: everyField(),
    sourceOf: store => new LinelessSource(store),
  });
  const asked = { ...rangeQuery(query, { limit: lineLimit, categorize: true }), field: name };
  const { result } = await engine.range(asked, requester());
  if (result.kind !== 'streams') throw new Error('not a log query');
  const { signal } = new AbortController();
  return (await detectValues(result.streams, name, { limit: 1000, signal })).values;
}

const JSON_LINES = ['{"status":200,"took":"5ms"}', '{"status":500,"size":"1500000B"}', '{"status":200}'];
const LOGFMT_LINES = ['level=info n=1', 'n=2 level=', 'level=warn n=3'];
const TWICE = '{"status":404,"status":405}';
const traced = (line: string, trace: string) => ({ line, metadata: { trace } });
const ALL = '{app="a"}';

// [what, lines, query, field, line limit, values]
test.each<[string, readonly Given[], string, string, number, readonly string[]]>([
  ['JSON', JSON_LINES, ALL, 'status', 100, ['200', '500']],
  ['a field that some lines lack', JSON_LINES, ALL, 'took', 100, ['5ms']],
  ['a size, in short', JSON_LINES, ALL, 'size', 100, ['1.5MB']],
  ['logfmt, where an empty value is none', LOGFMT_LINES, ALL, 'level', 100, ['info', 'warn']],
  ['JSON, where an empty value is one', ['{"a":""}', '{"a":"x"}'], ALL, 'a', 100, ['', 'x']],
  ['both in a page', ['a=1', '{"a":2}', 'a=3'], ALL, 'a', 100, ['1', '2', '3']],
  ['the newest alone', [...JSON_LINES, '{"status":301}'], ALL, 'status', 1, ['301']],
  ['no column knows an older one', [TWICE, ...JSON_LINES], ALL, 'status', 3, ['200', '500']],
  ['metadata of the name', [{ line: 'a=1', metadata: { a: 'm' } }, 'a=2'], ALL, 'a', 100, ['1', '2', 'm']],
  ['a label of the name', [{ stream: { app: 'a', n: 'x' }, line: 'n=1' }, 'n=2'], ALL, 'n', 100, ['2']],
  ['only a label of the name', ['app=1', 'free text'], ALL, 'app', 100, []],
  [
    'a label of the name, and metadata of it',
    [{ line: 'app=1 n=1', metadata: { app: 'm' } }, 'app=2 n=2'],
    ALL,
    'app',
    100,
    [],
  ],
  ['a filter on metadata', [traced('n=1', 'x'), traced('n=2', 'y')], `${ALL} | trace="x"`, 'n', 100, ['1']],
])('%s', async (_what, lines, query, field, limit, want) => {
  expect(await valuesOf(lines, query, field, limit)).toEqual(want);
});

// [what, lines, query, field, line limit]
test.each<[string, readonly Given[], string, string, number]>([
  ['no column knows a row', [TWICE, ...JSON_LINES], ALL, 'status', 4],
  ['no column knows a row that a filter may leave', [TWICE, ...JSON_LINES], `${ALL} | app="a"`, 'status', 1],
  ['a page without the column', JSON_LINES, ALL, 'level', 100],
  ['a filter on lines', JSON_LINES, `${ALL} |= "200"`, 'status', 100],
  ['a parser', JSON_LINES, `${ALL} | json`, 'status', 100],
  ['a name that may be of another field', JSON_LINES, ALL, 'status_extracted', 100],
  ['pairs to logfmt, an empty object to JSON', [' {}=1 n=1', 'n=2'], ALL, 'n', 100],
])('lines are read: %s', async (_what, lines, query, field, limit) => {
  await expect(valuesOf(lines, query, field, limit)).rejects.toThrow(LINES_READ);
});
