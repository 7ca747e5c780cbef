import { describe, expect, test } from '@jest/globals';
import type { MetricExpr } from '../../shared/language/logql/ast.ts';
import { aggregation, by, instant, leaf, ranged } from './trees.ts';

function replace(destination: string, replacement: string, source: string, regex: string): MetricExpr {
  return { kind: 'labelReplace', expr: leaf('a'), destination, replacement, source, regex };
}

describe('label_replace', () => {
  test.each<[string, string, string, string, string]>([
    ['new', '$1', 'app', '(.*)', '{app="web", new="web"}'],
    ['new', 'x-$1-$2', 'app', '(.)(.*)', '{app="web", new="x-w-eb"}'],
    ['app', 'X', 'app', 'web', '{app="X"}'],
    ['app', 'X', 'app', 'we', '{app="web"}'],
    ['app', '', 'app', 'web', '{}'],
    ['new', '', 'app', '.*', '{app="web"}'],
    ['new', '$name', 'app', '(?P<name>w.*)', '{app="web", new="web"}'],
    ['new', '$' + '{1}y', 'app', '(.*)b', '{app="web", new="wey"}'],
    ['new', '$1y', 'app', '(.*)b', '{app="web"}'],
    ['new', '$9', 'app', '(.*)', '{app="web"}'],
    ['new', 'v', 'nosuch', '', '{app="web", new="v"}'],
    ['new', 'v', 'nosuch', '.+', '{app="web"}'],
    ['not a name', 'v', 'app', 'web', '{app="web", not a name="v"}'],
    ['aa', '$$', 'app', 'web|x', '{aa="$", app="web"}'],
    ['new', 'v', 'app', 'w|web', '{app="web", new="v"}'],
  ])('%s %s %s %s', (destination, replacement, source, regex, want) => {
    expect(instant(replace(destination, replacement, source, regex), { a: { 'app=web': 1 } })).toEqual([
      [want, 1],
    ]);
  });

  test('a match drops labels with empty values; without one they stay', () => {
    const leaves = { a: { 'app=web,pod=': 1 } };
    expect(instant(replace('new', 'v', 'app', 'web'), leaves)).toEqual([['{app="web", new="v"}', 1]]);
    expect(instant(replace('new', '', 'app', 'web'), leaves)).toEqual([['{app="web"}', 1]]);
    expect(instant(replace('new', 'v', 'pod', ''), leaves)).toEqual([['{app="web", new="v"}', 1]]);
    expect(instant(replace('new', 'v', 'app', 'x'), leaves)).toEqual([['{app="web", pod=""}', 1]]);
  });

  test('halves of a character that come together are one again', () => {
    const leaves = { a: { 'half=\udca9': 1 } };
    expect(instant(replace('half', '\udcc3$1', 'half', '(.)'), leaves)).toEqual([['{half="é"}', 1]]);
  });

  test('equal label sets stay two elements, and group as one', () => {
    const same = replace('app', 'x', 'app', '.*');
    const leaves = { a: { 'app=a': [1], 'app=b': [2] } };
    expect(ranged(same, leaves)).toEqual([['{app="x"}', [0, 1], [0, 2]]]);
    expect(ranged(aggregation('count', same, by('app')), leaves)).toEqual([['{app="x"}', [0, 2]]]);
  });
});
