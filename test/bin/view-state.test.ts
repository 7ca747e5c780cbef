/** The state of `logboom view`: keys, completion, live entries, and the screen that shows them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cellWidth } from '../../bin/cli/cell-text.ts';
import type { PrintedEntry } from '../../bin/cli/range-query.ts';
import { keyOf } from '../../bin/cli/view/keys.ts';
import { completed, completionAt, edited, typed, withFilter } from '../../bin/cli/view/query-line.ts';
import { barsOf, screenOf } from '../../bin/cli/view/screen.ts';
import {
  initialState,
  MAX_VIEW_ENTRIES,
  onKey,
  type ViewEffect,
  type ViewState,
  withEntries,
  withTailed,
  withWords,
} from '../../bin/cli/view/state.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';

const entry = (n: number, labels: Record<string, string> = { app: 'a', pod: `p${n}` }): PrintedEntry => ({
  timeNs: BigInt(n) * 1_000_000_000n,
  labels,
  line: `line ${n}`,
});
const SIZE = { columns: 60, rows: 12 };
const LISTED = withEntries(
  initialState('{app="a"}'),
  [3, 2, 1].map(n => entry(n)),
  '',
);

/** Keys by name; text of one character is itself. */
function pressed(state: ViewState, ...keys: readonly string[]): { state: ViewState; effects: ViewEffect[] } {
  const effects: ViewEffect[] = [];
  for (const key of keys) {
    const [next, effect] = onKey(
      state,
      key.length === 1 ? { name: undefined, text: key } : { name: key, text: '' },
      5,
    );
    state = next;
    if (effect !== undefined) effects.push(effect);
  }
  return { state, effects };
}

const at = (marked: string) => ({ text: marked.replace('|^', ''), cursor: marked.indexOf('|^') });

describe('query line of the view', () => {
  test.each([
    ['{|^', { kind: 'name', prefix: '' }],
    ['{ap|^', { kind: 'name', prefix: 'ap' }],
    ['{app="a", po|^', { kind: 'name', prefix: 'po' }],
    ['{app="a,{b", po|^', { kind: 'name', prefix: 'po' }],
    ['{app="sh|^"}', { kind: 'value', label: 'app', prefix: 'sh' }],
    ['{x="1", app=~"|^', { kind: 'value', label: 'app', prefix: '' }],
    ['{app="a"} | js|^', { kind: 'stage', prefix: 'js' }],
    ['{app="a"} |= "x" | |^', { kind: 'stage', prefix: '' }],
    ['{app="a"} |= "x | js|^', undefined],
    ['{app="a"}|^', undefined],
  ])('%s completes %j', (marked, want) => {
    expect(completionAt(at(marked))).toEqual(want);
  });

  test('quotes a value for LogQL, and closes it once', () => {
    const line = at('{app="a|^');
    expect(completed(line, completionAt(line)!, 'a"b').text).toBe('{app="a\\"b"');
    const closed = at('{app="a|^"}');
    expect(completed(closed, completionAt(closed)!, 'abc').text).toBe('{app="abc"}');
  });

  test('edits whole characters, with the cursor inside', () => {
    const keys = fc.constantFrom('left', 'right', 'home', 'end', 'backspace', 'delete', 'erase', 'nothing');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(keys), (text, steps) => {
        let line = typed({ text: '', cursor: 0 }, text);
        for (const key of steps) {
          line = edited(line, key);
          expect(line.cursor).toBeGreaterThanOrEqual(0);
          expect(line.cursor).toBeLessThanOrEqual(line.text.length);
          expect(line.text.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('remains a valid query with a filter by any value', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (value, keeps) => {
        expect(() => parseQuery(withFilter('{app="a"}', 'pod', value, keeps))).not.toThrow();
      }),
    );
  });
});

describe('keys', () => {
  test('move the selection within the list', () => {
    expect(pressed(LISTED, 'down').state.selected).toBe(1);
    expect(pressed(LISTED, 'down', 'j', 'down', 'pagedown').state.selected).toBe(2);
    expect(pressed(LISTED, 'G', 'k').state.selected).toBe(1);
    expect(pressed(LISTED, 'up', 'pageup', 'g').state.selected).toBe(0);
    expect(pressed(initialState('{a="b"}'), 'down').state.selected).toBe(0);
  });

  test('filter by the chosen label of the chosen entry', () => {
    const kept = pressed(LISTED, 'down', 'enter', 'right', '+');
    expect(kept.state.line.text).toBe('{app="a"} | pod="p2"');
    expect(kept.effects).toEqual([{ kind: 'run' }]);
    expect(pressed(LISTED, 'enter', '-').state.line.text).toBe('{app="a"} | app!="a"');
    const closed = pressed(LISTED, '+');
    expect([closed.effects, closed.state.message]).toEqual([[], expect.stringContaining('Enter')]);
  });

  test('run a query that was typed; an empty one is not run', () => {
    const typedQuery = pressed(initialState(''), ...'{a="b"}', 'enter');
    expect(typedQuery.state).toMatchObject({ focus: 'list', isBusy: true, line: { text: '{a="b"}' } });
    expect(typedQuery.effects).toEqual([{ kind: 'run' }]);
    expect(pressed(initialState(''), 'enter').effects).toEqual([]);
  });

  test('start and stop the live tail, and quit', () => {
    expect(pressed(LISTED, 't', 't', 'q').effects).toEqual([
      { kind: 'start-tail' },
      { kind: 'stop-tail' },
      { kind: 'quit' },
    ]);
    // A new query continues the live tail.
    expect(pressed(LISTED, 't', 'r').effects).toEqual([{ kind: 'start-tail' }, { kind: 'start-tail' }]);
    expect(pressed(LISTED, '/', 'quit').effects).toEqual([{ kind: 'quit' }]);
  });

  test.each([
    ['q', true, { name: undefined, text: 'q' }],
    ['\u{1f600}', true, { name: undefined, text: '\u{1f600}' }],
    ['ENTER', false, { name: 'enter', text: '' }],
    ['CTRL_C', false, { name: 'quit', text: '' }],
    ['ESCAPE', false, { name: 'escape', text: '' }],
    ['F5', false, undefined],
    ['ALT_q', false, undefined],
    ['\u0085', true, undefined],
  ])('%j (character: %s) is %j', (name, isCharacter, want) => {
    expect(keyOf(name, { isCharacter })).toEqual(want);
  });
});

describe('completion', () => {
  const complete = (marked: string, words: readonly string[]) => {
    const state = { ...initialState(''), line: at(marked) };
    return withWords(state, completionAt(state.line)!, words);
  };

  test('inserts a single word, or what several words share', () => {
    expect(complete('{ap|^', ['app', 'pod']).line.text).toBe('{app');
    const several = complete('{app="s|^', ['shop', 'shape', 'x']);
    expect([several.line.text, several.words]).toEqual(['{app="sh', ['shape', 'shop']]);
    expect(complete('{x|^', ['app']).message).toBe('no completion');
  });

  test('is discarded if the line has changed since', () => {
    const state = { ...initialState(''), line: at('{app|^') };
    expect(withWords(state, { kind: 'name', prefix: 'a' }, ['abc'])).toBe(state);
  });

  test('completing a stage needs no store', () => {
    expect(pressed({ ...initialState(''), line: at('{a="b"} | js|^') }, 'tab').state.line.text).toBe(
      '{a="b"} | json',
    );
    expect(pressed({ ...initialState(''), line: at('{|^') }, 'tab').effects).toEqual([
      { kind: 'complete', completion: { kind: 'name', prefix: '' } },
    ]);
  });
});

describe('live entries', () => {
  test('come first, and a selected entry stays selected', () => {
    expect(withTailed(LISTED, [entry(4), entry(5)]).entries.map(({ line }) => line)).toEqual(
      [5, 4, 3, 2, 1].map(n => `line ${n}`),
    );
    expect(withTailed(LISTED, [entry(4)]).selected).toBe(0);
    expect(withTailed({ ...LISTED, selected: 1 }, [entry(4)]).selected).toBe(2);
  });

  test('are limited in number', () => {
    const many = Array.from({ length: MAX_VIEW_ENTRIES }, (_, i) => entry(i));
    const { entries, selected } = withTailed({ ...LISTED, selected: 2 }, many);
    expect([entries.length, selected]).toEqual([MAX_VIEW_ENTRIES, MAX_VIEW_ENTRIES - 1]);
  });
});

describe('screen of the view', () => {
  test('fits any terminal, and no entry can control it', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 200 });
    const sizes = fc.record({
      columns: fc.integer({ min: 1, max: 80 }),
      rows: fc.integer({ min: 5, max: 20 }),
    });
    fc.assert(
      fc.property(texts, texts, sizes, fc.boolean(), (line, value, size, hasDetails) => {
        const state = {
          ...LISTED,
          line: typed({ text: '', cursor: 0 }, line),
          entries: [{ ...entry(1, { app: value }), line }],
          hasDetails,
          message: value,
        };
        const { rows } = screenOf(state, size);
        expect(rows.length).toBeLessThanOrEqual(size.rows);
        for (const { text } of rows) {
          expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
          expect(cellWidth(text)).toBeLessThanOrEqual(size.columns);
        }
      }),
    );
  });

  test('shows the labels of the chosen entry', () => {
    const { rows } = screenOf(pressed(LISTED, 'enter').state, SIZE);
    const text = rows.map(row => row.text).join('\n');
    expect(text).toContain('  app = a\n  pod = p3\n');
    expect(text).toContain('entry 1 of 3');
  });

  test.each([
    [[], 10, ''],
    [[0, 1, 8], 10, ' ▁█'],
    [[1, 1, 4, 4], 2, '▂█'],
    [[0, 0], 10, '  '],
  ])('bars of %j', (counts, columns, want) => {
    expect(barsOf(counts, columns)).toBe(want);
  });
});
