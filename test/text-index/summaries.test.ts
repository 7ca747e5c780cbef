/** Values with separate terms, and the bytes of page summaries. */
import { describe, expect, test } from '@jest/globals';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { decodeSummaries, SummaryWriter } from '../../shared/execution/text-index/summary-codec.ts';
import { isRecordedValue } from '../../shared/execution/text-index/value-terms.ts';

describe('values that are recorded', () => {
  test.each([
    ['u-123', true],
    ['503', true],
    ['ring.go:222', true],
    ['GET', true],
    ['4711', false],
    ['12.5', false],
    ['-1.5', false],
    ['a b', false],
    ['', false],
    ['0a1b2c3d', false],
    ['abcdef123456', true],
    ['abcdefghijklm', false],
  ])('%s: %s', (text, want) => {
    const bytes = Buffer.from(text);
    expect(isRecordedValue(bytes, 0, bytes.length)).toBe(want);
  });
});

describe('the section of summaries', () => {
  const section = () => {
    const writer = new SummaryWriter();
    writer.addPage([{ key: 'jlevel', values: ['info', 'error'], ranges: [] }]);
    writer.addPage([]);
    writer.addPage([{ key: 'jtook', values: [], ranges: [{ least: '1.5ms', most: '900.5ms' }] }]);
    return writer.finish();
  };

  test('reads back', () => {
    const [first, second, third] = decodeSummaries(section(), 3)!;
    expect([...first.values()]).toEqual([{ key: 'jlevel', values: ['info', 'error'], ranges: [] }]);
    expect(second.size).toBe(0);
    expect(third.get('jtook')!.ranges).toEqual([{ least: '1.5ms', most: '900.5ms' }]);
  });

  test('prunes nothing with another version, and refuses broken ones', () => {
    const later = section();
    later[0] = 2;
    expect(decodeSummaries(later, 3)).toBeUndefined();
    expect(() => decodeSummaries(section(), 4)).toThrow(CorruptionError);
    expect(() => decodeSummaries(Buffer.concat([section(), Buffer.alloc(1)]), 3)).toThrow(CorruptionError);
    expect(() => decodeSummaries(section().subarray(0, -1), 3)).toThrow(CorruptionError);
  });
});
