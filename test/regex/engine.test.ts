import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import type { CharSet } from '../../shared/language/regex/char-set.ts';
import {
  chooseEngine,
  countMatches,
  type Finder,
  finderWithRe2,
  finderWithV8,
  MAX_V8_UNITS,
  replaceMatches,
} from '../../shared/language/regex/engine.ts';
import { parseRegex } from '../../shared/language/regex/parse.ts';
import { compileRegex } from '../../shared/language/regex/regex.ts';
import { forTest } from '../../shared/language/regex/simplify.ts';
import type { RegexNode } from '../../shared/language/regex/syntax.ts';
import { searchWork } from '../../shared/language/regex/work.ts';
import { bySuite } from '../support/suite.ts';
import { patterns, texts } from './patterns.ts';

/** re2js itself, without trees, simplification or V8. */
function re2(pattern: string): RE2JS {
  return RE2JS.compile(parseRegex(pattern).nameless);
}

function groupsByRe2(pattern: RE2JS, text: string): (string | undefined)[] | undefined {
  const matcher = pattern.matcher(text);
  if (!matcher.find()) return undefined;
  return Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? undefined);
}

describe('same answers as re2js', () => {
  const runs = { numRuns: 700 };

  test('test, exec, replaceAll and count', () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const regex = compileRegex(pattern);
        const judge = re2(pattern);
        expect(regex.test(text)).toBe(judge.test(text));
        const groups = regex.exec(text);
        expect(groups === undefined ? undefined : [...groups]).toEqual(groupsByRe2(judge, text));
        expect(regex.count(text)).toBe(countMatches(finderWithRe2(judge, text), text));
        const replaced = replaceMatches(finderWithRe2(judge, text), text, all => `<${all[0]}>`);
        expect(regex.replaceAll(text, '<$0>')).toBe(replaced);
      }),
      runs,
    );
  });

  test('V8 alone, if it may run', () => {
    let ran = 0;
    const show = (finder: Finder, text: string) => replaceMatches(finder, text, all => `<${all.join('|')}>`);
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const { v8 } = chooseEngine(parseRegex(pattern).node, 'gu');
        if (v8 === undefined) return;
        ran++;
        expect(show(finderWithV8(v8, text), text)).toBe(show(finderWithRe2(re2(pattern), text), text));
      }),
      runs,
    );
    expect(ran).toBeGreaterThan(50);
  });

  test('an anchored expression gives the answers of re2js', () => {
    fc.assert(
      fc.property(patterns, texts, fc.boolean(), (pattern, text, dotMatchesNewline) => {
        const whole = RE2JS.compile(`^(?${dotMatchesNewline ? 's' : ''}:${parseRegex(pattern).nameless})$`);
        const regex = compileRegex(pattern, { anchored: true, dotMatchesNewline });
        expect(regex.test(text)).toBe(whole.test(text));
        const groups = regex.exec(text);
        expect(groups === undefined ? undefined : [...groups]).toEqual(groupsByRe2(whole, text));
        if (regex.test(text)) expect(text.startsWith(regex.prefix)).toBe(true);
        if (regex.setMatches !== undefined) expect(regex.setMatches.includes(text)).toBe(whole.test(text));
      }),
      runs,
    );
  });

  test('every matching text contains the required literal', () => {
    let checked = 0;
    fc.assert(
      fc.property(patterns, texts, texts, fc.constantFrom('', '(?i)'), (around, text, middle, flag) => {
        const pattern = `${flag}(?:${around})?${RE2JS.quote(middle)}(?:${around})`;
        const literal = compileRegex(pattern).requiredLiteral;
        if (literal === undefined || !re2(pattern).test(middle + text)) return;
        checked++;
        const whole = middle + text;
        const bytes = Buffer.from(literal.foldCase ? whole.replace(/[A-Z]/g, c => c.toLowerCase()) : whole);
        expect(bytes.includes(literal.bytes)).toBe(true);
      }),
      runs,
    );
    expect(checked).toBeGreaterThan(35);
  });
});

describe('choice of engine', () => {
  const limitOf = (pattern: string) => chooseEngine(parseRegex(pattern).node, 'u').maxV8Units;

  test.each([
    'error',
    'error|failed|panic',
    '(?i)error|failed',
    '^(\\S+) (\\S+) \\[([^\\]]+)\\] "(\\S+) ([^"]*)" (\\d+)$',
    '"status":(\\d+),',
    '"[^"]*x',
    '(?:GET|POST) /api/[a-z]+\\?',
    '(\\d{1,3}\\.){3}\\d{1,3}',
    '\\bx42\\b',
    '^a.*b$',
    'user=\\w+',
    'level=(\\w+).*',
  ])('V8 for lines of any usual length: %j', pattern => {
    expect(limitOf(pattern)).toBe(MAX_V8_UNITS);
  });

  test.each(['\\s+$', '(?i)a+b', 'error.*timeout', '(\\w+)=(\\w+)', '^a.*b.*c$', '\\d+x'])(
    'V8 for short lines only, since it is quadratic: %j',
    pattern => {
      expect(limitOf(pattern)).toBeGreaterThan(200);
      expect(limitOf(pattern)).toBeLessThan(2_500);
    },
  );

  test.each([
    '(a+)+$',
    '(?i)(a+)+$',
    '(a|aa)+$',
    '(?i)(a|aa)+$',
    '(.*a){20}',
    '(?i)(.*a){20}',
    '(a{1,20}){1,20}',
    '(?i)((a{1,9}){1,9}){1,9}',
    '(x+x+)+y',
    '(?:a?){30}a{30}',
    '(|a)(|a)(|a)(|a)(|a)(|a)(|a)(|a)(|a)(|a)(|a)$',
    '^(?:(?:a|b)|(?:a|c)|a)*$',
    'a.*b.*c.*d',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(?:\\w+\\s?)+!',
    '([ab]*)*c',
    'a{900}b',
  ])('never V8: %j', pattern => {
    expect(limitOf(pattern)).toBe(-1);
  });

  test('tests of patterns with a loop at a free end are made harmless', () => {
    for (const pattern of ['(a+)+', '\\s+$', '.*error.*', '(?:ab)*x', '(?s)^.*x.*$']) {
      expect(chooseEngine(forTest(parseRegex(pattern).node), 'u').maxV8Units).toBe(MAX_V8_UNITS);
    }
  });

  test('long texts go to re2js', () => {
    const long = ' '.repeat(20_000) + 'x';
    expect(compileRegex('(\\s+)$').exec(long)).toBeUndefined();
    expect(compileRegex('\\s+$').count(long)).toBe(0);
    expect(compileRegex('\\s+$').test(long)).toBe(false);
    expect(compileRegex('(x)$').exec(' '.repeat(MAX_V8_UNITS) + 'x')).toEqual(['x', 'x']);
  });

  test('work that no engine can bound is refused', () => {
    // Counted is what a search might read, the rest of the text; on short lines it reads little, and the test takes no seconds.
    expect(() => compileRegex('a.*b|a').count('aaa\n'.repeat(10_000))).toThrow(
      'regular expression needs too much work on 40000 characters; simplify it, or filter lines by a fixed text first',
    );
    const many = 'a'.repeat(40_000);
    expect(compileRegex('\\w').count(many)).toBe(40_000);
    expect(compileRegex('[ab]{900}c').test(many)).toBe(false);
    expect(() => compileRegex('[ab]{900}[cd]').test('a'.repeat(100_000))).toThrow('needs too much work');
  });
});

describe('the bound on work', () => {
  const containsChar = (set: CharSet, code: number) =>
    set.some((from, i) => i % 2 === 0 && from <= code && code <= set[i + 1]);

  /** Steps of a plain backtracking search, as V8 does it, given up at `maxSteps`. */
  function stepsOf(node: RegexNode, text: string, maxSteps: number): number {
    let steps = 0;
    type Next = (at: number) => boolean;
    const run = (part: RegexNode, at: number, next: Next): boolean => {
      if (++steps > maxSteps) throw new Error(`over ${maxSteps} steps`);
      switch (part.type) {
        case 'empty':
          return next(at);
        case 'chars':
          return at < text.length && containsChar(part.set, text.charCodeAt(at)) && next(at + 1);
        case 'assertion':
          return (
            (part.kind === 'textStart' ? at === 0 : part.kind === 'textEnd' && at === text.length) && next(at)
          );
        case 'group':
          return run(part.node, at, next);
        case 'concat': {
          const from = (index: number): Next =>
            index === part.nodes.length ? next : place => run(part.nodes[index], place, from(index + 1));
          return from(0)(at);
        }
        case 'alternate':
          return part.nodes.some(branch => run(branch, at, next));
        case 'repeat': {
          const iterate = (count: number, place: number): boolean => {
            const more = () => count < part.max && run(part.node, place, to => iterate(count + 1, to));
            const leave = () => count >= part.min && next(place);
            return part.greedy ? more() || leave() : leave() || more();
          };
          return iterate(0, at);
        }
      }
    };
    for (let start = 0; start <= text.length; start++) if (run(node, start, () => true)) break;
    return steps;
  }

  const small = fc.constantFrom('a', 'b', '[ab]', '[^b]', '[bc]', 'c', 'ab', '^', '$');
  const loops = fc.constantFrom('*', '+', '*?', '{2,}', '?', '{1,3}', '{0,2}');
  const simple = fc.letrec<{ pattern: string; piece: string }>(tie => ({
    pattern: fc
      .array(fc.array(tie('piece'), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 })
      .map(branches => branches.map(pieces => pieces.join('')).join('|')),
    piece: fc.oneof(
      { depthSize: 'small' },
      small,
      fc.tuple(small, loops).map(parts => `(?:${parts[0]})${parts[1]}`),
      tie('pattern').map(inner => `(?:${inner})`),
      fc.tuple(tie('pattern'), loops).map(parts => `(?:${parts[0]})${parts[1]}`),
    ),
  })).pattern;

  test('holds for a backtracking search on repetitive texts', () => {
    let bounded = 0;
    const repetitive = fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'ab', 'aab', 'cb'), fc.integer({ min: 1, max: 60 })), {
        minLength: 1,
        maxLength: 3,
      })
      .map(parts =>
        parts
          .map(([part, times]) => part.repeat(times))
          .join('')
          .slice(0, 80),
      );
    fc.assert(
      fc.property(simple, repetitive, (pattern, text) => {
        const { node } = parseRegex(pattern);
        const { steps, degree } = searchWork(node);
        if (degree > 4) return;
        bounded++;
        // Nodes without characters, and both sides of each boundary, cost the naive search a constant factor.
        const bound = 8 * (steps + 4) * (text.length + 2) ** degree;
        expect(stepsOf(node, text, bound)).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 5_000 },
    );
    // About 1,070 of 5,000, plus or minus 30: the bound on a random count is far below.
    expect(bounded).toBeGreaterThan(bySuite({ fast: 125, full: 500 }));
  });

  test('would notice a bound that is too low', () => {
    const { node } = parseRegex('(?:a+)+c');
    expect(() => stepsOf(node, 'a'.repeat(40), 1e5)).toThrow('over 100000 steps');
  });
});
