// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are what is tested
/** Each problem names its line and column in the file as a person sees it, and no secret. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { ConfigError, parseConfig } from '../../shared/server/admin/config.ts';
import { parseOverrides } from '../../shared/server/admin/overrides.ts';

const ENVIRONMENT = { WORD: 'many', LINES: 'a\nb\nc', LONG: 'x'.repeat(50) };

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('accepted');
}

const problems = (text: string) =>
  messageOf(() => parseConfig(text, { name: 'f', environment: ENVIRONMENT })).split('\n');
const positions = (text: string) =>
  problems(text).map(line => /^f:(\d+:\d+): (the file|[a-z_.]+)/.exec(line)?.slice(1).join(' '));

describe('positions in a configuration', () => {
  test.each<[string, string[]]>([
    ['auth_enabled: 1', ['1:1 auth_enabled']],
    ['# first\n\nauth_enabled: 1', ['3:1 auth_enabled']],
    [
      'server:\n  log_level: x\n  http_listen_port: y',
      ['3:3 server.http_listen_port', '2:3 server.log_level'],
    ],
    ['server: {log_level: x}', ['1:10 server.log_level']],
    ['server:\n- a', ['1:1 server']],
    ['- a', ['1:1 the file']],
    // A list: the element, not its key.
    ['limits_config:\n  required_labels:\n    - a\n    - 1', ['4:7 limits_config.required_labels']],
    [
      'limits_config:\n  retention_stream:\n    - {selector: "{", period: 24h}\n    - selector: "{}"\n      period: x',
      [
        '3:8 limits_config.retention_stream',
        '4:7 limits_config.retention_stream',
        '5:7 limits_config.retention_stream',
      ],
    ],
    ['logboom:\n  data_dri: x', ['2:3 logboom.data_dri']],
    ['a: &a {log_level: x}\nserver: *a', ['1:8 server.log_level']],
    // Values of the environment move what stands behind them.
    ['server: {a: ${LONG}, log_level: x}', ['1:22 server.log_level']],
    ['{no_auth_tenant: "${LINES}",\nauth_enabled: 1}', ['2:1 auth_enabled']],
    ['limits_config: {max_query_series: ${WORD}}', ['1:17 limits_config.max_query_series']],
  ])('%j', (text, want) => {
    expect(positions(text)).toEqual(want);
  });

  // Invalid YAML, and names that occur twice.
  test.each([
    ['a: [1\n', /^f:2:1: \S/],
    ['a: 1\n b: 2\n', /^f:1:4: \S/],
    ['a: 1\nb: 2\na: 3', /^f:3:1: duplicate key a$/],
    ['a: *b', /^f: \S/],
  ])('%j', (text, want) => {
    expect(problems(text)[0]).toMatch(want);
  });

  test('lists twenty problems and counts the others', () => {
    const text = `limits_config:\n  policy_enforced_labels:\n${Array.from({ length: 25 }, (_, i) => `    p${i}: x`).join('\n')}`;
    const told = problems(text);
    expect(told).toHaveLength(21);
    expect(told[19]).toMatch(/^f:22:5: .* at p19 /);
    expect(told[20]).toBe('5 more problems');
  });

  test('quotes the beginning of a long value', () => {
    expect(problems(`auth_enabled: ${'x'.repeat(10_000)}`)[0].length).toBeLessThan(300);
  });

  test.each([
    ['limits_config: {max_query_serie: 1}', 'do you mean max_query_series?'],
    ['Server: {}', 'do you mean server?'],
    ['querier: {max_concurent: 1}', 'do you mean max_concurrent?'],
    ['zzz: 1', undefined],
    [`${'x'.repeat(200)}: 1`, undefined],
  ])('%s', (text, meant) => {
    const { warnings } = parseConfig(text, { name: 'f', environment: {} });
    expect(/do you mean .*\?/.exec(warnings[0])?.[0]).toBe(meant);
  });
});

describe('positions in overrides', () => {
  const parse = (...texts: string[]) =>
    parseOverrides(
      texts.map((text, i) => ({ name: `o${i}`, text })),
      DEFAULT_LIMITS,
    );
  const BAD = 'overrides:\n  a:\n    max_query_series: x\n';
  const GOOD = 'overrides:\n  a:\n    max_line_size: 1KB\n  b.c: {}\n';

  test.each<[string[], string]>([
    [[BAD], 'o0:3:5: overrides.a.max_query_series: '],
    [[BAD, GOOD], 'o0:3:5: overrides.a.max_query_series: '],
    [[GOOD, BAD], 'o1:3:5: overrides.a.max_query_series: '],
    [[BAD, `\n${BAD}`], 'o1:4:5: overrides.a.max_query_series: '],
    // Settings that tenants share are wrong where they are written.
    [['s: &s\n  max_query_series: x\noverrides: {a: {<<: *s}}'], 'o0:2:3: overrides.a.max_query_series: '],
    [['s: &s {max_query_series: x}\noverrides:\n  a: {<<: [*s]}'], 'o0:1:8: overrides.a.max_query_series: '],
    [['overrides:\n  b.c: {max_line_size: x}'], 'o0:2:9: overrides.b.c.max_line_size: '],
  ])('%j', (texts, want) => {
    expect(messageOf(() => parse(...texts)).startsWith(want)).toBe(true);
  });

  test('reports the problems of several files at once', () => {
    const message = messageOf(() => parse('overrides: 3', 'overrides: {a: 4}'));
    expect(message.split('\n').map(line => line.split(': ')[0])).toEqual(['o0:1:1', 'o1:1:13']);
  });

  test('names the file in a warning', () => {
    const { warnings } = parse(GOOD, 'overrides:\n  a: {max_query_serie: 1}');
    expect(warnings[0]).toMatch(
      /overrides\.a\.max_query_serie \(o1, line 2; do you mean max_query_series\?\)$/,
    );
  });
});
