/** What the study of templates and columns splits comes back byte for byte, or its figures would mean nothing. */
import { describe, expect, it } from '@jest/globals';
import { packColumn, unpackColumn } from '../../scripts/line-split-study/column-types.ts';
import { joinPage } from '../../scripts/line-split-study/join.ts';
import { pageOf } from '../../scripts/line-split-study/pages.ts';
import { splitPage } from '../../scripts/line-split-study/split.ts';

const LINES = [
  '',
  '{"ts":"2026-11-23T14:12:51.500Z","n":7,"o":{"k":"a \\"b\\" c"},"a":[1,2],"e":""}',
  '{"open":"never closed',
  '{"a":"ends in a backslash\\',
  'level=info msg="two words" took=1.5ms empty= quoted=""',
  '10.0.0.7:8080 -> 10.0.0.8 2026-11-23 1.2.3: 12:',
  'bytes of our own \u0000 and \u0001',
  'no digit at all',
  '=:"=":',
  Array.from({ length: 3000 }, (_, i) => i).join(' '),
];

describe('line split study', () => {
  it('joins what it split', () => {
    const page = pageOf([...LINES, ...LINES].map(line => Buffer.from(line)));
    const split = splitPage(page);
    expect(split.plainLengths).toHaveLength(4);
    expect(joinPage(split, page.lines.length)).toEqual(page.lines);
  });

  it('joins lines of bytes without order', () => {
    let state = 7;
    const random = (below: number) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % below;
    const alphabet = Buffer.from('ab01{}[]":=,\\ .-_\n\u0000\u0001\u00ff', 'latin1');
    const lines = Array.from({ length: 2000 }, () =>
      Buffer.from(
        Array.from({ length: random(60) }, () => alphabet[(random(1 << 20) >> 4) % alphabet.length]),
      ),
    );
    const page = pageOf(lines);
    expect(joinPage(splitPage(page), page.lines.length).equals(page.lines)).toBe(true);
  });

  it.each([
    ['words', ['info', 'warn', 'info', 'info']],
    ['integer', ['0', '-17', '999999999999999', '3']],
    ['decimal', ['0.05', '-1.50', '123456789.99']],
    ['time', ['2026-11-23T14:12:51.004Z', '1969-12-31T23:59:59.999Z']],
    ['time', ['2026-11-23 14:12:51', '2026-11-23 14:12:50']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000', '00000000-0000-0000-0000-000000000001']],
    ['hex', ['00ff00ff', 'deadbeef']],
    ['address', ['10.0.0.1', '255.255.255.255']],
    ['text', ['007', '1']],
    ['text', ['-0.5', '0.5']],
    ['text', ['2026-02-30T00:00:00Z', '2026-11-23T14:12:51Z']],
    ['text', ['256.0.0.1', '10.0.0.1']],
    ['text', ['', 'a']],
  ])('reads a column of %s back', (type, values) => {
    const text = Buffer.from(values.map(value => `${value}\0`).join(''), 'latin1');
    const packed = packColumn(text);
    expect(packed.type).toBe(type);
    expect(unpackColumn(packed)).toEqual(text);
  });
});
