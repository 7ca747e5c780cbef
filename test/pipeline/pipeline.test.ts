import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { compileLogPipeline, type PipelineRow } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { allRows, clock, type Entry, labelsAfter, makePage, runLog, runPipeline } from './support.ts';

const compile = (stages: string) =>
  compileLogPipeline(parseQuery(`{app="x"} ${stages}`) as LogExpr, { clock });

describe('an emitted row', () => {
  test('has labels by category', () => {
    const entry: Entry = { line: 'a=1 m=2 app=3', metadata: { m: 'M', app: 'A', k: 'K' } };
    expect(runLog('| logfmt', [entry])[0]).toEqual({
      row: 0,
      line: 'a=1 m=2 app=3',
      labels: { a: '1', app: 'x', app_extracted: '3', k: 'K', m: 'M', m_extracted: '2' },
      text: '{a="1", app="x", app_extracted="3", k="K", m="M", m_extracted="2"}',
      stream: { app: 'x' },
      structuredMetadata: { k: 'K', m: 'M' },
      parsed: { a: '1', app_extracted: '3', m_extracted: '2' },
    });
  });

  test('the later of two metadata columns counts if their names end alike', () => {
    expect(labelsAfter('', 'l', { app_extracted: 'b', app: 'a' })).toEqual({ app_extracted: 'b' });
    expect(labelsAfter('', 'l', { app: 'a' })).toEqual({ app_extracted: 'a' });
    expect(labelsAfter('| app_extracted="b"', 'l', { app_extracted: 'b', app: 'a' })).toEqual({
      app_extracted: 'b',
    });
  });

  test('an unchanged line is a range of the page, a changed one is not', () => {
    const page = makePage([{ line: 'one' }, { line: 'two é' }]);
    const seen: [boolean, string][] = [];
    const emit = (_row: number, entry: PipelineRow) => {
      const { lineBuffer, lineStart, lineEnd } = entry;
      expect(lineBuffer === page.lines).toBe(!entry.lineChanged);
      seen.push([entry.lineChanged, lineBuffer.toString('utf8', lineStart, lineEnd)]);
    };
    const sink = { wants: () => true, emit };
    compile('').run(page, allRows(page), 2, sink);
    compile('| line_format "<{{__line__}}>"').run(page, allRows(page), 2, sink);
    expect(seen).toEqual([
      [false, 'one'],
      [false, 'two é'],
      [true, '<one>'],
      [true, '<two é>'],
    ]);
  });

  test('rows of equal stored labels share them', () => {
    const page = makePage([
      { line: 'a', metadata: { m: '1' } },
      { line: 'b', metadata: { m: '2' } },
      { line: 'c', metadata: { m: '1' } },
    ]);
    const labels: unknown[] = [];
    compile('|~ "."').run(page, allRows(page), 3, {
      wants: () => true,
      emit: (_, entry) => labels.push(entry.labels()),
    });
    expect(labels[0]).toBe(labels[2]);
    expect(labels[0]).not.toEqual(labels[1]);
  });

  test('a byte of a line that is not UTF-8 is escaped', () => {
    expect(runLog('', [{ line: Buffer.from([0x61, 0xe2, 0x82, 0x62]) }])[0].line).toBe('a\udce2\udc82b');
  });
});

describe('a run over a page', () => {
  const entries = Array.from({ length: 10 }, (_, i) => ({
    line: `n=${i}`,
    stream: { app: 'x', s: String((i % 4) >> 1) },
  }));

  test('processes only the selected rows, and checks the sink before work', () => {
    const page = makePage(entries);
    const asked: number[] = [];
    const emitted: number[] = [];
    const count = compile('| logfmt | n>3').run(page, Uint32Array.of(1, 4, 5, 8, 9), 4, {
      wants: row => asked.push(row) > 0 && row !== 5,
      emit: row => emitted.push(row),
    });
    expect([asked, emitted, count]).toEqual([[1, 4, 5, 8], [4, 8], 2]);
  });

  test('emits nothing for an empty selection or an empty page', () => {
    expect(
      compile('| json').run(makePage(entries), new Uint32Array(0), 0, { wants: () => true, emit: () => {} }),
    ).toBe(0);
    expect(runPipeline(compile('|= "x"'), makePage([]))).toEqual([]);
  });

  test('a pipeline keeps nothing from page to page', () => {
    const pipeline = compile('| logfmt | json');
    const first = makePage([{ line: 'a=1 b=2', metadata: { m: '1' } }]);
    const second = makePage([{ line: 'c=3', stream: { app: 'x', a: 's' } }]);
    const alone = [first, second].map(page => runPipeline(compile('| logfmt | json'), page));
    expect([first, second, first].map(page => runPipeline(pipeline, page))).toEqual([
      alone[0],
      alone[1],
      alone[0],
    ]);
  });

  test('a filter on a label of the stream skips whole streams', () => {
    const results = runLog('| json | s="1"', entries);
    expect(results.map(({ row }) => row)).toEqual([2, 3, 6, 7]);
    expect(
      runLog('| logfmt | s="1"', [{ line: 's=1' }, { line: 's=2', stream: { app: 'x', s: '1' } }]).map(
        ({ row }) => row,
      ),
    ).toEqual([0, 1]);
  });
});

describe('stages that cannot be built', () => {
  test.each([
    ['|~ "("', '|~ "("\' : error parsing regexp: missing closing ): `(`'],
    ['|> "<a>"', "|> \"<a>\"' : named captures are not allowed: found '<a>'"],
    ['|= ip("1.2.3.4/99")', '|= ip("1.2.3.4/99")\' : ip: invalid pattern: "1.2.3.4/99"'],
    ['|~ ip("1.2.3.4")', '|~ ip("1.2.3.4")\' : ip: invalid operation'],
    ['| addr=ip("foo")', '| addr=ip("foo")\' : ip: invalid pattern: "foo"'],
    [
      '| json a="b[", c="d"',
      '| json a="b[",c="d"\' : cannot parse expression [b[]: syntax error: unexpected $end, expecting STRING or INDEX',
    ],
    [
      '| line_format "{{ nosuch .x }}"',
      '| line_format "{{ nosuch .x }}"\' : invalid line template: template: line:1: function "nosuch" not defined',
    ],
    [
      '| label_format a=b, a=c',
      "| label_format a=b,a=c' : multiple label name 'a' not allowed in a single format operation",
    ],
    ['| label_format __error__=b', "| label_format __error__=b' : __error__ cannot be formatted"],
    [
      '| label_format a="{{"',
      "| label_format a=\"{{\"' : invalid template for label 'a': template: label:1: unclosed action",
    ],
  ])('%s', (stage, message) => {
    let error: unknown;
    try {
      compile(stage);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(BadRequestError);
    expect((error as Error).message).toBe(`parse error : stage '${message}`);
  });
});

describe('moving stages changes no result', () => {
  const word = fc.constantFrom('a', 'b', '1', '2', 'x y', '');
  const pairs = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'app'), word, { maxKeys: 3 });
  const line = fc.oneof(
    pairs.map(record => JSON.stringify(record)),
    pairs.map(record =>
      Object.entries(record)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(' '),
    ),
    fc.constantFrom('', 'plain', '{"a":', '{"a":{"b":1},"c":[1]}'),
  );
  const entry = fc.record({
    line,
    stream: fc.record(
      { app: fc.constant('x'), b: word.filter(value => value !== '') },
      { requiredKeys: ['app'] },
    ),
    metadata: fc.dictionary(fc.constantFrom('a', 'c'), word, { maxKeys: 2 }),
  });
  const stage = fc.constantFrom(
    '| json',
    '| logfmt',
    '| logfmt --strict',
    '| json c="a"',
    '| logfmt c="a"',
    '| regexp "(?P<c>[ab])"',
    '| pattern "<a>:<b>"',
    '| a="1"',
    '| b!="2"',
    '| c=~"a|"',
    '| a>1',
    '| b="1" or c="2"',
    '| a=ip("1.1.1.1")',
    '| __error__=""',
    '|= "a"',
    '!~ "1$"',
    '|> "<_>a<_>"',
    '| label_format c=a',
    '| label_format a="{{.b}}"',
    '| drop a, nosuch="1"',
    '| keep app, b=~".*"',
    '| line_format "{{.a}} {{.c}}"',
    '| decolorize',
    '| unpack',
  );

  test('a whole query is its stages one after the other, each on the row that the last one left', () => {
    // `label_format z=nosuch` and `line_format "{{__line__}}"` change nothing, but keep what follows at its place.
    const pinned = (stages: readonly string[]) =>
      stages.map(text => `| label_format nosuch=nosuch2 | line_format "{{__line__}}" ${text}`).join(' ');
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 6 }),
        fc.array(stage, { minLength: 1, maxLength: 4 }),
        (entries, stages) => {
          const fast = runLog(stages.join(' '), entries as Entry[]);
          const slow = runLog(pinned(stages), entries as Entry[]);
          expect(fast).toEqual(slow);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('rows do not influence one another', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 2, maxLength: 6 }),
        fc.array(stage, { minLength: 1, maxLength: 4 }),
        (entries, stages) => {
          const text = stages.join(' ');
          const together = runLog(text, entries as Entry[]);
          const alone = (entries as Entry[]).flatMap((single, row) =>
            runLog(text, [single]).map(result => ({ ...result, row })),
          );
          expect(together).toEqual(alone);
        },
      ),
    );
  });
});
