/** Boards without a browser: variables, files, and dashboards of Grafana. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Board, BoardVariable, SavedQuery } from '../../shared/base/model/board.ts';
import { boardFileText, importText } from '../../ui/src/boards/board-file.ts';
import { chosenOf, fillBoardVariables } from '../../ui/src/boards/board-variables.ts';
import { importGrafana, isGrafana } from '../../ui/src/boards/grafana-import.ts';

const variable = (name: string, given: Partial<BoardVariable> = {}): BoardVariable => ({
  ...{ name, label: 'app', selector: '', values: [], chosen: [], several: false },
  ...given,
});
const SERVICE = variable('service', { several: true });
const TEXT = variable('text', { label: '' });

describe('variables of a board', () => {
  test.each<[string, Record<string, string[]>, string]>([
    ['{app=~"$service"}', {}, '{app=~".+"}'],
    ['{app=~"$service"}', { service: ['a.b'] }, '{app=~"a\\\\.b"}'],
    ['{app=~"$' + '{service:regex}"}', { service: ['a', 'b'] }, '{app=~"(a|b)"}'],
    ['{app="x"} |= `$text`', { text: ['a "b" \\ `c`'] }, '{app="x"} |= `a "b" \\ c`'],
    ['{app="x"} |= "$text"', { text: ['a "b" \\'] }, '{app="x"} |= "a \\"b\\" \\\\"'],
    ['{app="\\"$text"}', { text: ['"'] }, '{app="\\"\\""}'],
    ['rate({app="$text"}[$__auto]) > $other', { text: ['a'] }, 'rate({app="a"}[$__auto]) > $other'],
    ['$textual $' + '{text}', { text: ['a'] }, '$textual a'],
  ])('%s with %j', (query, chosen, filled) => {
    expect(fillBoardVariables(query, [SERVICE, TEXT], chosen)).toBe(filled);
  });

  test('a value stays inside the quotes that it is written in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), value => {
        const filled = fillBoardVariables('{app="$text"}', [TEXT], { text: [value] });
        expect(filled).toMatch(/^\{app="(?:[^"\\\n]|\\.)*"\}$/s);
      }),
    );
  });

  test('the address has precedence, also with no value', () => {
    const variables = [variable('a', { chosen: ['1'] }), variable('b', { chosen: ['2'] })];
    expect(chosenOf(variables, { 'v.b': 'x\ny' })).toEqual({ a: ['1'], b: ['x', 'y'] });
    expect(chosenOf(variables, { 'v.b': '\n' })).toEqual({ a: ['1'], b: [] });
  });
});

const BOARD: Board = {
  ...{ name: 'Shop', description: '', from: 'now-1h', to: 'now', refreshSeconds: 0 },
  ...{ variables: [SERVICE], panels: [] },
};
const QUERY: SavedQuery = {
  ...{ name: 'q', description: '', queries: ['{a="b"}'], from: '', to: '', chart: 'lines' },
};

describe('files', () => {
  test('exported boards can be imported', () => {
    expect(importText(boardFileText([BOARD], [QUERY]))).toEqual({
      boards: [BOARD],
      queries: [QUERY],
      notes: [],
    });
  });

  test.each([
    ['{', 'The file is not JSON'],
    ['[]', 'The file has no boards'],
    ['{"format":"logboom-explorer","version":2}', 'The file has version 2, but this page reads version 1.'],
    ['{"format":"logboom-explorer","version":1,"boards":{}}', 'boards and queries must be lists'],
    ['{"format":"logboom-explorer","version":1,"boards":[{}]}', 'name: expected a text'],
  ])('%s', (text, message) => {
    expect(() => importText(text)).toThrow(message);
  });
});

const LOKI = { type: 'loki', uid: 'x' };
const target = (expr: string, more = {}) => ({ refId: 'A', expr, ...more });
const DASHBOARD = {
  title: 'Shop',
  time: { from: 'now-6h', to: 'now' },
  refresh: '45s',
  templating: {
    list: [
      { type: 'datasource', name: 'ds', query: 'loki' },
      {
        ...{ type: 'query', name: 'service', multi: true, includeAll: true },
        query: { label: 'service_name', stream: '{namespace="shop"}', type: 1 },
        current: { value: ['$__all'] },
      },
      {
        type: 'query',
        name: 'pod',
        query: 'label_values({a="b"}, pod)',
        current: { value: 'p1' },
        regex: '/x/',
      },
      { type: 'custom', name: 'env', query: 'prod, staging : stage', current: { value: 'prod' } },
      { type: 'textbox', name: 'text', query: 'error' },
      { type: 'adhoc', name: 'filters' },
      { type: 'query', name: 'metric', query: 'metrics(.*)' },
    ],
  },
  annotations: { list: [{ builtIn: 1 }, { name: 'deploys' }] },
  panels: [
    {
      ...{ type: 'timeseries', title: 'Rate', datasource: LOKI, gridPos: { x: 0, y: 0, w: 24, h: 8 } },
      targets: [target('sum(rate({app=~"$service"}[$__auto]))', { legendFormat: '{{app}}' })],
      fieldConfig: { defaults: { unit: 'Bps', custom: { stacking: { mode: 'normal' } } }, overrides: [{}] },
    },
    {
      type: 'row',
      panels: [
        { type: 'logs', title: 'Lines', datasource: LOKI, targets: [target('{app="a"} |= "$unknown"')] },
        { type: 'text', title: 'Notes', options: {} },
      ],
    },
    {
      ...{ type: 'stat', title: 'Mixed', gridPos: { x: 0, y: 9, w: 6, h: 4 }, transformations: [{}] },
      targets: [
        target('count_over_time({a="b"}[1h])', { datasource: LOKI }),
        { datasource: { type: 'prometheus' }, expr: 'up' },
      ],
    },
    { type: 'timeseries', title: 'CPU', datasource: { type: 'prometheus' }, targets: [{ expr: 'up' }] },
  ],
};

describe('a dashboard of Grafana', () => {
  test('translates the Loki panels and variables of a dashboard', () => {
    const { board } = importGrafana(DASHBOARD);
    expect(board).toMatchObject({ name: 'Shop', from: 'now-6h', to: 'now', refreshSeconds: 60 });
    expect(board.variables).toEqual([
      variable('service', { label: 'service_name', selector: '{namespace="shop"}', several: true }),
      variable('pod', { label: 'pod', selector: '{a="b"}', chosen: ['p1'] }),
      variable('env', { label: '', values: ['prod', 'stage'], chosen: ['prod'] }),
      variable('text', { label: '', chosen: ['error'] }),
    ]);
    expect(
      board.panels.map(({ title, kind, unit, width, rows }) => [title, kind, unit, width, rows]),
    ).toEqual([
      ['Rate', 'area', 'bytes', 12, 4],
      ['Lines', 'logs', 'auto', 6, 4],
      ['Mixed', 'value', 'auto', 3, 2],
    ]);
    expect(board.panels[0].queries).toEqual([
      { query: 'sum(rate({app=~"$service"}[$__auto]))', legend: '{{app}}' },
    ]);
    expect(board.panels[2].queries).toHaveLength(1);
  });

  test('lists parts that cannot be translated', () => {
    expect(importGrafana(DASHBOARD).notes).toEqual([
      'Variable “pod”: its regular expression is omitted',
      'Variable “filters”: omitted: variable type adhoc is not supported',
      'Variable “metric”: omitted: it does not list the values of a label',
      'Panel “Rate”: field overrides are omitted',
      'Panel “Lines”: uses $unknown, which the board does not define',
      'Panel “Notes”: omitted: panel type text is not supported',
      'Panel “CPU”: omitted: it has no Loki query',
      'Panel “Mixed”: 1 queries of other data sources are omitted',
      'Panel “Mixed”: transformations are omitted',
      'Annotations are omitted',
    ]);
  });

  test.each([
    ['piechart', 'top', ['Panel “P”: a pie chart is shown as a top list']],
    ['gauge', 'value', ['Panel “P”: a gauge is shown as a value']],
    ['heatmap', 'heat', []],
    ['constructor', undefined, ['Panel “P”: omitted: panel type constructor is not supported']],
  ])('a panel of type %s is shown as %s', (type, kind, notes) => {
    const panel = { type, title: 'P', datasource: { type: 'loki' }, targets: [{ expr: '{a="b"}' }] };
    const found = importGrafana({ title: 'D', panels: [panel] });
    expect([found.board.panels[0]?.kind, found.notes]).toEqual([kind, notes]);
  });

  test('is found in an export of the Grafana API, and imported from a file', () => {
    const { boards, notes } = importText(JSON.stringify({ meta: {}, dashboard: DASHBOARD }));
    expect([boards[0].name, notes.length]).toEqual(['Shop', 10]);
  });

  test('any JSON becomes a board', () => {
    const keys = fc.constantFrom(
      'panels',
      'targets',
      'expr',
      'type',
      'templating',
      'list',
      'title',
      'gridPos',
      'w',
      'time',
      'query',
      'name',
      'datasource',
      'rows',
    );
    const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
      tree: fc.oneof(
        { depthSize: 'medium' },
        fc.constantFrom(
          'loki',
          'timeseries',
          'logs',
          'query',
          'custom',
          '{a="b"} | x',
          'now-1h',
          -1,
          1e9,
          '\u0000',
        ),
        fc.jsonValue(),
        fc.dictionary(keys, tie('tree')),
        fc.array(tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(tree, value => {
        if (isGrafana(value)) expect(importGrafana(value).board.panels.length).toBeLessThanOrEqual(60);
        else expect(isGrafana(value)).toBe(false);
      }),
    );
  });
});
