/** The stages that format: line_format, label_format, drop, keep, decolorize. */
import { describe, expect, test } from '@jest/globals';
import { decolorize } from '../../shared/execution/pipeline/decolorize.ts';
import { labelsAfter, runLog, type Texts } from './support.ts';

describe('line_format', () => {
  test.each<[string, string, string]>([
    ['| logfmt | line_format "{{.a}}-{{.b}}"', 'a=1 b=2', '1-2'],
    ['| logfmt | line_format "{{.a}}"', 'a=1', '1'],
    ['| logfmt | line_format "{{.nosuch}}"', 'a=1', ''],
    ['| line_format "<{{__line__}}>"', 'é', '<é>'],
    ['| line_format "plain"', 'x', 'plain'],
    ['| json | line_format "{{.__error__}}"', 'x', ''],
    ['| json | line_format "{{.__error__}} "', 'x', 'JSONParserErr '],
    [
      '| json | line_format "{{.__error_details__}}!"',
      'x',
      "Value looks like object, but can't find closing '}' symbol!",
    ],
    ['| line_format "{{__timestamp__ | unixEpoch}}"', 'x', '1699999000'],
    ['| logfmt | line_format "{{range $k, $v := .}}{{$k}}={{$v}};{{end}}"', 'b=2 a=1', 'a=1;app=x;b=2;'],
    ['| line_format "a" | line_format "{{__line__}}b"', 'x', 'ab'],
  ])('%s of %j', (stages, line, want) => {
    expect(runLog(stages, [{ line }])[0].line).toBe(want);
  });

  test('a failure keeps the line and sets the error', () => {
    const [result] = runLog('| logfmt | line_format "{{ unixToTime .a }}"', [{ line: 'a=ab' }]);
    expect(result.line).toBe('a=ab');
    expect(result.labels).toMatchObject({ a: 'ab', __error__: 'TemplateFormatErr' });
    expect(result.labels.__error_details__).toContain('unable to parse time');
  });
});

describe('label_format', () => {
  test.each<[string, string, Texts]>([
    ['b=a', 'a=1', { b: '1' }],
    ['b=nosuch', 'a=1', { a: '1' }],
    ['b="{{.a}}{{.a}}"', 'a=1', { a: '1', b: '11' }],
    ['b=""', 'a=1', { a: '1', b: '' }],
    ['app="y"', 'a=1', { app: 'y', a: '1' }],
    ['app=a', 'a=1', { app: '1' }],
    ['b=app', 'a=1', { app: undefined as unknown as string, a: '1', b: 'x' }],
    // A label renamed to itself stays: difference D5.
    ['app=app', 'a=1', { a: '1' }],
    ['a=a', 'a=1', { a: '1' }],
    [
      'y=app, z="{{.app}}-{{.y}}", w="{{.z}}"',
      'a=1',
      { app: undefined as unknown as string, a: '1', y: 'x', z: '-x', w: '' },
    ],
    ['z="{{.a}}", y=a, w="{{.a}}{{.y}}{{.z}}"', 'a=1', { y: '1', z: '1', w: '1' }],
    ['b="{{__line__}}"', 'a=1', { a: '1', b: 'a=1' }],
    ['e=__error__', 'a=1', { a: '1' }],
  ])('%s of %j', (items, line, want) => {
    expect(labelsAfter(`| logfmt | label_format ${items}`, line)).toEqual(want);
  });

  test('a failing template leaves its label and the others continue', () => {
    const labels = labelsAfter('| logfmt | label_format b="{{ unixToTime .a }}", c=a', 'a=ab');
    expect(labels).toMatchObject({ c: 'ab', __error__: 'TemplateFormatErr' });
    expect(labels).not.toHaveProperty('b');
  });

  test('the result is a parsed label, the renamed one is gone from its category', () => {
    const [result] = runLog('| label_format y=app, n=m', [{ line: 'l', metadata: { m: '1', k: '2' } }]);
    expect(result).toMatchObject({ stream: {}, structuredMetadata: { k: '2' }, parsed: { y: 'x', n: '1' } });
  });
});

describe('drop and keep', () => {
  test.each<[string, string, Texts, Texts]>([
    ['drop a', 'a=1 b=2', {}, { b: '2' }],
    ['drop a, m, nosuch', 'a=1 b=2', { m: '3' }, { b: '2' }],
    ['drop a="1", b="9"', 'a=1 b=2', {}, { b: '2' }],
    ['drop a=~"x.*", b!="9"', 'a=1 b=2', {}, { a: '1' }],
    ['drop app', 'a=1', {}, { app: undefined as unknown as string, a: '1' }],
    ['keep a', 'a=1 b=2', { m: '3' }, { app: undefined as unknown as string, a: '1' }],
    ['keep app, m="3", a="9"', 'a=1', { m: '3' }, { m: '3' }],
    ['keep nosuch', 'a=1', {}, { app: undefined as unknown as string }],
  ])('%s', (stage, line, metadata, want) => {
    expect(labelsAfter(`| logfmt | ${stage}`, line, metadata)).toEqual(want);
  });

  test('drop and keep apply to errors', () => {
    const error = {
      __error__: 'JSONParserErr',
      __error_details__: "Value looks like object, but can't find closing '}' symbol",
    };
    expect(labelsAfter('| json | keep nosuch', 'x')).toEqual({ app: undefined, ...error });
    expect(labelsAfter('| json | drop __error__="Other"', 'x')).toEqual(error);
    expect(labelsAfter('| json | drop __error__="JSONParserErr", __error_details__', 'x')).toEqual({});
    // The details alone are visible if a label was added, not on an unchanged row.
    expect(labelsAfter('| json | drop __error__', 'x')).toEqual({});
    expect(labelsAfter('| json | drop __error__', 'x', { m: '1' })).toEqual({
      m: '1',
      __error_details__: error.__error_details__,
    });
  });

  test('a suffix stays in force after drop', () => {
    expect(labelsAfter('| drop app | logfmt', 'app=y')).toEqual({ app: undefined, app_extracted: 'y' });
    expect(labelsAfter('| drop m | logfmt', 'm=y', { m: '1' })).toEqual({ m: 'y' });
  });
});

describe('decolorize', () => {
  test.each<[string, string]>([
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b[1;31;42mx\x1b[m', 'x'],
    ['a\u009b32mb', 'ab'],
    ['\x1b]0;title\x07x', 'x'],
    ['\x1b[K\x1b[2Jx', 'x'],
    ['\x1b[', '\x1b['],
    ['\x1b[12', ''],
    ['\x1b[;', '\x1b[;'],
    ['\x1b[12345mx', 'mx'],
    ['no é color', 'no é color'],
    ['\x1bz\x1b!', '\x1bz\x1b!'],
    ['\x1b[38;5;196mé\x1b[0m!', 'é!'],
  ])('%j', (line, want) => {
    const bytes = Buffer.from(line);
    expect(decolorize(bytes, 0, bytes.length) ?? line).toBe(want);
    expect(runLog('| decolorize', [{ line }])[0].line).toBe(want);
  });

  test('agrees with a regular expression put together from the parts of the rule', () => {
    // Each part as docs/dev/logql-semantics.md#drop-keep-and-decolorize has it.
    const introducer = '[\\x1b\\x9b]';
    const opening = '[\\[\\]()#;?]*';
    const endedByBell = '[A-Za-z0-9;]*\\x07';
    const parameters = '(?:[0-9]{1,4}(?:;[0-9]{0,4})*)?';
    const final = '[0-9A-PRZcf-ntqry=><~]';
    const ansi = new RegExp(`${introducer}${opening}(?:${endedByBell}|${parameters}${final})`, 'g');
    const parts = ['\x1b', '\u009b', '[', ';', '1', '22', '333', '4444', 'm', 'Q', 'z', '\x07', '?', ' '];
    let state = 1;
    for (let i = 0; i < 5000; i++) {
      let line = '';
      for (let j = 0; j < 8; j++) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        line += parts[(state >>> 16) % parts.length];
      }
      const bytes = Buffer.from(line);
      expect([line, decolorize(bytes, 0, bytes.length) ?? line]).toEqual([line, line.replace(ansi, '')]);
    }
  });

  test('comes before a filter that follows it', () => {
    // The reference runs the filter first: difference D3.
    expect(runLog('| decolorize |= "[31m"', [{ line: '\x1b[31mred' }])).toEqual([]);
    expect(runLog('|= "[31m" | decolorize', [{ line: '\x1b[31mred' }])[0].line).toBe('red');
  });

  test('a long run of parameters costs one pass', () => {
    expect(runLog('| decolorize', [{ line: `\x1b${';'.repeat(300_000)}` }])[0].line).toHaveLength(300_001);
  });
});
