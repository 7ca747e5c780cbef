/**
 * Lines in the line space use other code than other lines, and a line after others uses other code than a
 * line alone (expected keys, existing marks): all must give the same rows, labels and samples.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineSpace } from '../../shared/base/kernels/line-memory.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { clock, makePage } from './support.ts';

const QUERIES = [
  '{app="x"} | json',
  '{app="x"} | json | status >= 500',
  '{app="x"} | json | level="error" | line_format "{{.msg}} {{.a_b}}"',
  '{app="x"} | json s="status", m="a.b"',
  '{app="x"} | logfmt',
  '{app="x"} | logfmt --strict --keep-empty',
  '{app="x"} | json | logfmt',
  '{app="x"} | pattern "<a> <b>=<c> <_>"',
  '{app="x"} | pattern "{\\"<k>\\":<v>,<rest>"',
  '{app="x"} |= "error"',
  '{app="x"} != "status" | logfmt',
  '{app="x"} |~ "(?i)ERROR|msg=|level" | json',
  '{app="x"} !~ "st[a]tus|(?i)kelvin"',
];

const value = fc.constantFrom(
  '500',
  '"error"',
  '""',
  '-1.5e3',
  'true',
  'null',
  'tru',
  '"x\\"y"',
  '"\\u00e9"',
  '"a b=c"',
  '{"b":1}',
  '{"b":{"c":"}"}}',
  '[1,{"q":"]"}]',
  '{',
  '[',
  '"open',
  '"\\',
);
const key = fc.constantFrom('status', 'level', 'msg', 'a', 'b', 'app', '', 'a b', 'x\\"', 'é', 'duration_ms');
const gap = fc.constantFrom('', '', '', ' ', '\t');
const member = fc
  .tuple(gap, key, gap, gap, value, gap)
  .map(([a, k, b, c, v, d]) => `${a}"${k}"${b}:${c}${v}${d}`);
const jsonLine = fc.array(member, { maxLength: 5 }).map(members => `{${members.join(',')}}`);
const pair = fc.tuple(key, fc.constantFrom('=', '=', '=', '', '=='), value).map(parts => parts.join(''));
const logfmtLine = fc.array(pair, { maxLength: 5 }).map(pairs => pairs.join(' '));
const usual = fc.tuple(fc.nat(3), fc.nat(700)).map(([kind, n]) => {
  const level = ['info', 'error', 'warn', 'Error'][kind];
  return kind % 2 === 0
    ? `{"level":"${level}","msg":"request ${n}","status":${n},"a":{"b":"${n}"},"duration_ms":${n / 10}}`
    : `level=${level} msg="request ${n}" status=${n} duration_ms=${n / 10}`;
});
const line = fc.oneof(
  { weight: 4, arbitrary: usual },
  { weight: 2, arbitrary: jsonLine },
  { weight: 2, arbitrary: logfmtLine },
  { weight: 1, arbitrary: fc.tuple(usual, fc.nat(80)).map(([text, cut]) => text.slice(0, cut)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'error', 'Kelvin \u212aelvin', 'level', '{', '{}', '{"a"', '"'),
  },
);
const lines = fc.array(
  line.map(text => Buffer.from(text)),
  { minLength: 1, maxLength: 12 },
);

function answer(query: string, pages: readonly PageRows[]): string[] {
  const pipeline = compileLogPipeline(parseQuery(query) as LogExpr, { clock });
  return pages.flatMap(page => {
    const found: string[] = [];
    const selection = Uint32Array.from({ length: page.rows }, (_, i) => i);
    pipeline.run(page, selection, page.rows, {
      wants: () => true,
      emit: (_, entry) => {
        found.push(`${entry.line()} ${entry.labelText()}`);
      },
    });
    return found;
  });
}

function inLineSpace(page: PageRows, offset: number): PageRows {
  const space = lineSpace().subarray(offset, offset + page.lines.length);
  page.lines.copy(space);
  return { ...page, lines: space };
}

describe('memory and order of lines change no result', () => {
  test.each(QUERIES)('%s', query => {
    fc.assert(
      fc.property(lines, fc.nat(70), (all, offset) => {
        const page = makePage(all.map(one => ({ line: one })));
        const alone = all.flatMap(one => answer(query, [makePage([{ line: one }])]));
        expect(answer(query, [page])).toEqual(alone);
        expect(answer(query, [inLineSpace(page, offset)])).toEqual(alone);
      }),
      { numRuns: 120 },
    );
  });
});
