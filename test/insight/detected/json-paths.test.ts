import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_JSON_DEPTH } from '../../../shared/base/text/json-scan.ts';
import { MAX_LABEL_NAME_CHARACTERS } from '../../../shared/read/insight/detected/bounds.ts';
import { walkJsonPaths } from '../../../shared/read/insight/detected/json-paths.ts';
import { runLog } from '../../pipeline/support.ts';

/** Every name with its keys; the stream has the label `app`. */
function pathsOf(line: string): [string, readonly string[]][] {
  const found: [string, readonly string[]][] = [];
  const source = Buffer.from(line);
  walkJsonPaths(source, 0, source.length, {
    collides: name => name === 'app',
    visit(name, path) {
      found.push([name, path.slice()]);
      return true;
    },
  });
  return found;
}

test.each<[string, [string, readonly string[]][]]>([
  ['{}', []],
  ['{"a":1}', [['a', ['a']]]],
  [
    ' { "a" : { "b" : "x" , "c" : [ { "d" : 1 } ] } , "e" : true } x',
    [
      ['a_b', ['a', 'b']],
      ['e', ['e']],
    ],
  ],
  ['{"a":null,"b":false,"c":{}}', [['b', ['b']]]],
  [
    '{"user-agent":1,"9":2,"\\u00e9 x":3}',
    [
      ['user_agent', ['user-agent']],
      ['_9', ['9']],
      ['__x', ['é x']],
    ],
  ],
  [
    '{"app":1,"n":{"app":2}}',
    [
      ['app_extracted', ['app']],
      ['n_app', ['n', 'app']],
    ],
  ],
  [
    '{"":1," ":2,"":{"b":3},"a":{"":4}}',
    [
      ['b', ['', 'b']],
      ['a', ['a', '']],
    ],
  ],
  ['{"":{"app":1}}', [['app_extracted', ['', 'app']]]],
  [
    '{"a":"\\"}","b":"{"}',
    [
      ['a', ['a']],
      ['b', ['b']],
    ],
  ],
  ['{"a":1,"b', [['a', ['a']]]],
  ['{"a":1,"b":{"c":[', [['a', ['a']]]],
  [
    '{"a":1 "b":2}',
    [
      ['a', ['a']],
      ['b', ['b']],
    ],
  ],
  ['{"a":1,x}', [['a', ['a']]]],
  ['{"\\x":1}', []],
  ['[1]', []],
  ['', []],
])('%s', (line, want) => {
  expect(pathsOf(line)).toEqual(want);
});

test('the visitor can end a walk', () => {
  const source = Buffer.from('{"a":1,"b":2,"c":3}');
  const names: string[] = [];
  const visit = (name: string) => names.push(name) < 2;
  walkJsonPaths(source, 0, source.length, { collides: () => false, visit });
  expect(names).toEqual(['a', 'b']);
});

test('objects that are nested too deep, or have too long a name, are stepped over', () => {
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const names = (line: string) => pathsOf(line).map(([name]) => name);
  expect(names(deep(MAX_JSON_DEPTH + 1))).toEqual([
    Array(MAX_JSON_DEPTH + 1)
      .fill('a')
      .join('_'),
  ]);
  expect(names(`{"x":${deep(MAX_JSON_DEPTH + 1)},"b":1}`)).toEqual(['b']);
  expect(names(`{"${'k'.repeat(MAX_LABEL_NAME_CHARACTERS + 1)}":{"a":1},"b":1}`)).toEqual(['b']);
});

test('names are those that `| json` makes, in its order', () => {
  const key = fc.oneof(
    fc.constantFrom('a', 'b', 'app', '', ' ', 'a_b', 'x-y', '0'),
    fc.string({ unit: 'grapheme' }),
  );
  const { tree } = fc.letrec(tie => ({
    tree: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, fc.jsonValue({ maxDepth: 1 }), tie('tree'))),
  }));
  fc.assert(
    fc.property(tree, object => {
      const line = JSON.stringify(object);
      const [{ parsed }] = runLog('| json', [{ line }]);
      // The first of equal names counts. Objects within arrays, and `null`, are not labels.
      expect([...new Set(pathsOf(line).map(([name]) => name))].sort()).toEqual(Object.keys(parsed).sort());
    }),
  );
});
