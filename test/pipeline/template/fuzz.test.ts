/** For any text, compiling throws only errors in Go's format, and rendering throws only TemplateError. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TEMPLATE_FUNCTIONS } from '../../../shared/execution/pipeline/template/functions.ts';
import { compileTemplate, type Template } from '../../../shared/execution/pipeline/template/template.ts';
import { render, SAMPLE, TemplateError } from './sample-data.ts';

function compiled(text: string): Template | undefined {
  try {
    return compileTemplate(text, 'line');
  } catch (error) {
    expect((error as Error).message).toMatch(/^template: line:\d+: /);
    return undefined;
  }
}

/** Renders if it compiles; true if both succeeded. */
function check(text: string): boolean {
  const template = compiled(text);
  if (template === undefined) return false;
  try {
    expect(typeof template.render(SAMPLE)).toBe('string');
    return true;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    expect(error.message).toMatch(/^template: line:\d+:\d+: executing "/);
    return false;
  }
}

const WORDS = [
  ...TEMPLATE_FUNCTIONS.keys(),
  ...'{{ }} {{- -}} ( ) | := = , . $ $x .a .msg .j .arr "s" `r` 1 -1 2.5 0x1F nil true if else end range with define'.split(
    ' ',
  ),
  ...'template block break continue "%d" "%5.2v" "%*d" \'c\' /* */ $x.y .a.b "2006-01-02" $.msg "(a|b)" 3 é'.split(
    ' ',
  ),
  '\n',
];

const OPERANDS = [
  '.a',
  '.msg',
  '.j',
  '.arr',
  '.nosuch',
  '"s"',
  '1',
  '-3',
  '2.5',
  '1e3',
  'nil',
  'true',
  '.',
  '$',
  "'c'",
];
const operand = fc.oneof(
  fc.constantFrom(...OPERANDS),
  fc.constantFrom(
    '(fromJson .j)',
    '(fromJson .arr)',
    '(fromJson .a)',
    '(add 1 2)',
    'now',
    '__timestamp__',
    '(index .a 0)',
  ),
  fc.string().map(text => JSON.stringify(text)),
);

describe('fuzz', () => {
  test('any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), text => void check(text)));
  });

  test('words of the language in any order', () => {
    const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 30 });
    fc.assert(
      fc.property(words, words, (inside, outside) => {
        check(`{{ ${inside.join(' ')} }}${outside.join(' ')}`);
        check(outside.join(''));
      }),
      { numRuns: 500 },
    );
  });

  test('every function with any arguments', () => {
    const call = fc.tuple(fc.constantFrom(...TEMPLATE_FUNCTIONS.keys()), fc.array(operand, { maxLength: 4 }));
    fc.assert(
      fc.property(call, operand, ([name, args], last) => {
        check(`{{ ${name} ${args.join(' ')} }}`);
        check(`{{ ${last} | ${name} ${args.join(' ')} | printf "%v" }}`);
      }),
      { numRuns: 1000 },
    );
  });

  test('any format of printf', () => {
    const format = fc.array(fc.constantFrom(...'%*.0123456789[]#+- vTtdboOxXcqUeEfFgGs!é'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(format, fc.array(operand, { maxLength: 3 }), (characters, args) => {
        check(`{{ printf ${JSON.stringify(characters.join(''))} ${args.join(' ')} }}`);
      }),
      { numRuns: 1000 },
    );
  });

  test('any date layout', () => {
    const layout = fc.oneof(
      fc.string(),
      fc
        .array(
          fc.constantFrom(
            '2006',
            '01',
            '_2',
            'Jan',
            '15',
            '.000',
            '.99',
            'MST',
            'Z07:00',
            '-0700',
            '002',
            ' ',
            '-',
          ),
        )
        .map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(
        layout,
        fc.string(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        (shape, text, seconds) => {
          const quoted = JSON.stringify(shape);
          check(`{{ date ${quoted} ${seconds} }}{{ toDate ${quoted} ${JSON.stringify(text)} }}`);
        },
      ),
    );
  });

  test('a full layout parses its own output', () => {
    const range = { min: -62_135_596_800, max: 253_402_300_799 };
    fc.assert(
      fc.property(fc.integer(range), seconds => {
        const layout = '"2006-01-02T15:04:05Z07:00"';
        expect(render(`{{ unixEpoch (toDate ${layout} (date ${layout} ${seconds})) }}`)).toBe(
          String(seconds),
        );
      }),
    );
  });

  test('printed float64 values parse to the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
        for (const verb of ['%v', '%e', '%g', '%.17e', '%.1100f']) {
          const text = render(`{{ printf "${verb}" (float64 "${value}") }}`);
          if (verb !== '%e') expect(Number(text) === value).toBe(true);
        }
      }),
    );
  });

  test('int64 arithmetic wraps', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(int64, int64, (a, b) => {
        const want = [a + b, a - b, a * b].map(value => BigInt.asIntN(64, value)).join(' ');
        expect(render(`{{ add ${a} ${b} }} {{ sub ${a} ${b} }} {{ mul ${a} ${b} }}`)).toBe(want);
      }),
    );
  });

  test('decimal sums have no binary error', () => {
    const cents = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(Number(render(`{{ addf "${a / 100}" "${b / 100}" }}`))).toBe((a + b) / 100);
        expect(Number(render(`{{ subf "${a / 100}" "${b / 100}" }}`))).toBe((a - b) / 100);
      }),
    );
  });
});
