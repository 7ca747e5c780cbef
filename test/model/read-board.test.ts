/** Reads saved queries and boards from JSON that any client may have written. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { readBoard, readSavedQuery } from '../../shared/base/model/read-board.ts';

const PANEL = { title: 'a', kind: 'lines', unit: 'auto', width: 6, rows: 4, queries: [] };
const VARIABLE = { name: 'a', label: 'app', selector: '', values: [], chosen: [], several: false };
const BOARD = {
  name: 'Shop',
  description: '',
  from: 'now-6h',
  to: 'now',
  refreshSeconds: 60,
  variables: [VARIABLE],
  panels: [{ ...PANEL, queries: [{ query: '{a="b"}', legend: '{{app}}' }] }],
};
const QUERY = { name: 'q', description: '', queries: ['{a="b"}'], from: '', to: '', chart: 'lines' };

test('reads back its recorded reads', () => {
  expect(readBoard(BOARD)).toEqual(BOARD);
  expect(readSavedQuery(QUERY)).toEqual(QUERY);
  expect(readBoard({ name: ' x ' })).toEqual({
    ...{ name: 'x', description: '', from: 'now-1h', to: 'now', refreshSeconds: 0 },
    ...{ variables: [], panels: [] },
  });
  expect(readBoard({ name: 'x', panels: [{}] }).panels).toEqual([{ ...PANEL, title: '' }]);
  expect(readSavedQuery({ name: 'q', queries: ['x'] })).toEqual({ ...QUERY, queries: ['x'] });
});

const many = <T>(count: number, value: T): T[] => new Array<T>(count).fill(value);

describe('boards', () => {
  test.each<[unknown, string]>([
    [null, 'expected a JSON object'],
    [[], 'expected a JSON object'],
    [{}, 'name: expected a text'],
    [{ name: ' ' }, 'name: expected a name'],
    [{ name: 'x'.repeat(81) }, 'name: 81 characters, limit: 80'],
    [{ name: 'a\u0000' }, 'name: control characters and broken Unicode are not allowed'],
    [{ name: 'a\ud800' }, 'name: control characters and broken Unicode are not allowed'],
    [{ name: 'x', id: 1 }, 'unknown field "id"; fields are name, description'],
    [{ name: 'x', from: '6h' }, 'from: expected now, now-6h, or Unix milliseconds'],
    [{ name: 'x', to: 'yesterday' }, 'to: expected now'],
    [{ name: 'x', refreshSeconds: 1 }, 'refreshSeconds: expected one of 0, 5, 10'],
    [{ name: 'x', panels: {} }, 'panels: expected a list'],
    [{ name: 'x', panels: many(61, PANEL) }, 'panels: 61 entries, limit: 60'],
    [{ name: 'x', panels: [{ ...PANEL, kind: 'pie' }] }, 'panels[0].kind: expected one of lines, area'],
    [
      { name: 'x', panels: [{ ...PANEL, width: 13 }] },
      'panels[0].width: expected a whole number from 1 to 12',
    ],
    [{ name: 'x', panels: [{ ...PANEL, rows: 0 }] }, 'panels[0].rows: expected a whole number from 1 to 20'],
    [{ name: 'x', panels: [{ ...PANEL, rows: 1.5 }] }, 'panels[0].rows: expected a whole number'],
    [{ name: 'x', panels: [{ ...PANEL, queries: [{}] }] }, 'panels[0].queries[0].query: expected a text'],
    [
      { name: 'x', panels: [{ ...PANEL, queries: many(6, { query: '' }) }] },
      'panels[0].queries: 6 entries, limit: 5',
    ],
    [{ name: 'x', variables: many(13, VARIABLE) }, 'variables: 13 entries, limit: 12'],
    [{ name: 'x', variables: [VARIABLE, VARIABLE] }, 'variables: the name a is used twice'],
    [{ name: 'x', variables: [{ name: '__interval' }] }, 'variables[0].name: expected a letter'],
    [{ name: 'x', variables: [{ name: 'a', label: 'a-b' }] }, 'variables[0].label: not a label name'],
    [
      { name: 'x', variables: [{ name: 'a', chosen: ['1', '2'] }] },
      'variables[0].chosen: expected at most one value',
    ],
    [{ name: 'x', variables: [{ name: 'a', several: 1 }] }, 'variables[0].several: expected true or false'],
  ])('%j', (value, message) => {
    expect(() => readBoard(value)).toThrow(BadRequestError);
    expect(() => readBoard(value)).toThrow(message);
  });
});

test.each<[unknown, string]>([
  [{ name: 'x' }, 'queries: expected a list'],
  [{ name: 'x', queries: [] }, 'queries: expected at least one query'],
  [{ name: 'x', queries: [' '] }, 'no empty query'],
  [{ name: 'x', queries: ['x'.repeat(8193)] }, 'queries[0]: 8193 characters, limit: 8192'],
  [{ name: 'x', queries: ['x'], chart: 'logs' }, 'chart: expected one of'],
])('saved query %j', (value, message) => {
  expect(() => readSavedQuery(value)).toThrow(message);
});

test('reads any JSON or names the fault', () => {
  const keys = fc.constantFrom('name', 'panels', 'variables', 'queries', 'from', '__proto__', 'x');
  const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.dictionary(keys, tie('tree')),
      fc.array(tie('tree')),
    ),
  }));
  fc.assert(
    fc.property(tree, value => {
      for (const read of [readBoard, readSavedQuery]) {
        try {
          const first = read(value);
          expect(read(first)).toEqual(first);
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequestError);
        }
      }
    }),
  );
});
