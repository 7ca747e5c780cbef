import { describe, expect, test } from '@jest/globals';
import {
  cellOf,
  colorOfValue,
  columnNames,
  columnsFor,
  DEFAULT_WIDTH_PX,
  formatColumns,
  MAX_LIST_COLUMNS,
  movedColumn,
  parseColumns,
  shownColumns,
  withColumn,
  withoutColumn,
} from '../../ui/src/lines/columns.ts';
import { foldedLines, readLine } from '../../ui/src/lines/message.ts';
import { logRowsOf } from '../../ui/src/lines/rows.ts';

const rows = (...streams: readonly Record<string, string>[]) =>
  logRowsOf(
    streams.map((stream, i) => ({
      stream,
      values: [
        [
          `${i}000000`,
          '{"msg":"hi","http":{"status":200}}',
          { structuredMetadata: { pod: 'p' }, parsed: {} },
        ],
      ],
    })),
    false,
  );

describe('a line as people read it', () => {
  test.each([
    ['plain text', 'plain text', [], 0],
    ['{"level":"info","msg":"hi","n":1,"a":{"b":"c"}}', 'hi', ['n=1', 'a_b=c'], 0],
    ['ts=1 level=warn msg="slow \\"bank\\"" ms=4', 'slow "bank"', ['ms=4'], 0],
    ['{"time":"t","n":1,"a":{"b":["c",2]}}', '', ['n=1', 'a_b=["c",2]'], 0],
    ['{"level":"info"}', '{"level":"info"}', [], 0],
    ['{"n":null}', '{"n":null}', [], 0],
    ['level=info a=1 b="x y"', '', ['a=1', 'b=x y'], 0],
    ['connected to host=db port=5432', 'connected to host=db port=5432', [], 0],
    ['late msg=hi a=1', 'late msg=hi a=1', [], 0],
    ['{"msg":"","message":"second"}', 'second', [], 0],
    ['{"message":"boom\\n at a\\n at b\\n","n":1}', 'boom', ['n=1'], 2],
    ['Error: boom\n  at a\n  at b\n', 'Error: boom', [], 2],
    ['\u001b[31mred\u001b[0m text', '\u001b[31mred\u001b[0m text', [], 0],
    ['one\n', 'one\n', [], 0],
  ])('%j', (line, message, others, count) => {
    const read = readLine(line);
    expect(read.message.trimEnd()).toBe(message.trimEnd());
    expect(read.others.map(pair => pair.join('='))).toEqual(others);
    expect(foldedLines(read)).toBe(count);
  });
});

describe('columns', () => {
  test('are none for one stream, the service for several, or the first label that differs', () => {
    const of = (...streams: readonly Record<string, string>[]) =>
      columnsFor(rows(...streams)).map(({ name }) => name);
    expect(of({ service_name: 'a' })).toEqual([]);
    expect(of({ app: 'x', service_name: 'a' }, { app: 'y', service_name: 'b' })).toEqual(['service_name']);
    expect(of({ service_name: 'a', region: 'x' }, { service_name: 'a', region: 'y' })).toEqual(['region']);
  });

  test('have values of labels, metadata, and fields of the line', () => {
    const [row] = rows({ app: 'x' });
    expect(['app', 'pod', 'http_status', 'none'].map(name => cellOf(row, name))).toEqual([
      'x',
      'p',
      '200',
      '',
    ]);
    expect(columnNames([row])).toEqual(['app', 'http_status', 'msg', 'pod']);
  });

  test('are those of the address, or remembered ones that the rows have, or automatic ones', () => {
    const list = rows({ service_name: 'a' }, { service_name: 'b' });
    const of = (address: string, remembered: string) =>
      formatColumns(shownColumns(list, { address, remembered }));
    expect(of('none,pod', 'service_name')).toBe('none,pod');
    expect(of('-', 'pod')).toBe('-');
    expect(of('', 'pod.60,none,http_status')).toBe('pod.60,http_status');
    expect(of('', 'none')).toBe('service_name');
    expect(of('', '-')).toBe('-');
    expect(of('', '')).toBe('service_name');
  });

  test('are added once and up to the maximum, removed, and moved', () => {
    const columns = parseColumns('a,b.200,c')!;
    expect(formatColumns(withColumn(columns, 'd'))).toBe('a,b.200,c,d');
    expect(withColumn(columns, 'b')).toBe(columns);
    expect(formatColumns(withoutColumn(columns, 'b'))).toBe('a,c');
    expect(formatColumns(movedColumn(columns, 0, 2))).toBe('b.200,c,a');
    expect(formatColumns(movedColumn(columns, 2, 1))).toBe('a,c,b.200');
    const full = Array.from({ length: MAX_LIST_COLUMNS }, (_, i) => ({
      name: `c${i}`,
      widthPx: DEFAULT_WIDTH_PX,
    }));
    expect(withColumn(full, 'z')).toBe(full);
  });

  test('have a color by the value alone, spread over all colors', () => {
    expect(colorOfValue('checkout')).toEqual({ hue: 247.5, isDeep: false });
    const of = (count: number) => Array.from({ length: count }, (_, i) => colorOfValue(`service-${i}`));
    const slots = of(320).map(({ hue, isDeep }) => `${hue} ${isDeep}`);
    expect(new Set(slots).size).toBe(32);
    const most = Math.max(...[...new Set(slots)].map(slot => slots.filter(one => one === slot).length));
    // Ten names for each color on average.
    expect(most).toBeLessThan(24);
  });

  test('are text in the URL; invalid ones are omitted', () => {
    expect(parseColumns('')).toBeUndefined();
    expect(parseColumns('-')).toEqual([]);
    const columns = parseColumns('a,b.200,b,<i>,c.99999,d.9999,e.1')!;
    expect(formatColumns(columns)).toBe('a,b.200,d.800,e.40');
    expect(parseColumns(formatColumns(columns))).toEqual(columns);
    expect(formatColumns([])).toBe('-');
    expect(parseColumns(Array.from({ length: 50 }, (_, i) => `c${i}`).join(','))).toHaveLength(
      MAX_LIST_COLUMNS,
    );
  });
});
