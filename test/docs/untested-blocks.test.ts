/**
 * Blocks on pages for users that no test runs, because their program is not on a test machine: each is at least valid in its
 * language. No registry has the parser of Grafana Alloy, so only the blocks of its configuration are matched.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseDocument } from 'yaml';
import { codeBlocks } from './code-blocks.ts';
import { pathOf, userPages } from './pages.ts';

const blocks = userPages().flatMap(page =>
  codeBlocks(readFileSync(pathOf(page), 'utf8'))
    .filter(({ marks }) => marks.includes('untested'))
    .map(({ language, text, line }) => ({ at: `${page}:${line}`, language, text })),
);
const hasTomlParser = spawnSync('python3', ['-c', 'import tomllib']).status === 0;

/** What is wrong with a text; empty if nothing is. */
const PROBLEMS: Readonly<Record<string, (text: string) => string>> = {
  sh: text => spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' }).stderr,
  yaml: text => parseDocument(text).errors.join('\n'),
  json: text => {
    try {
      JSON.parse(text);
      return '';
    } catch (error) {
      return String(error);
    }
  },
  toml: text =>
    hasTomlParser
      ? spawnSync('python3', ['-c', 'import sys, tomllib; tomllib.loads(sys.stdin.read())'], {
          input: text,
          encoding: 'utf8',
        }).stderr
      : '',
  // Fluent Bit: sections, and indented keys with a value.
  ini: text =>
    text
      .split('\n')
      .filter(line => !/^(|\[[A-Z]+\]| {4}(#.*|[\w.]+ +\S.*))$/.test(line))
      .join('\n'),
  // Grafana Alloy, and configuration of Logstash: blocks that close.
  text: text => {
    const plain = text.replace(/"[^"\n]*"/g, '').replace(/(\/\/|#).*/g, '');
    const [opened, closed] = ['{', '}'].map(brace => plain.split(brace).length);
    return opened === closed ? '' : `${opened} { and ${closed} }`;
  },
};

test.each(blocks)('$at is valid $language', ({ language, text }) => {
  expect(Object.keys(PROBLEMS)).toContain(language);
  expect(PROBLEMS[language](text)).toBe('');
});

describe('a block with a mistake', () => {
  test.each([
    ['sh', 'if true; then\n'],
    ['yaml', 'a: [1\n'],
    ['json', '{"a": 1,}\n'],
    ['ini', '[OUTPUT]\n    host\n'],
    ['text', 'loki.write "a" {\n'],
  ])('finds a mistake in a block of %s', (language, text) => {
    expect(PROBLEMS[language](text)).not.toBe('');
  });
});
