/** Strings decoded by the kernel, compared with the byte loop of the scanner and with JSON.parse. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BLOCK_BYTES, KernelBody } from '../../shared/base/kernels/unquote.ts';
import { messageOf } from '../../shared/base/model/errors.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { JsonScanner } from '../../shared/write/ingest/json-scanner.ts';
import { PushColumns } from '../../shared/write/ingest/push-columns.ts';

/** Precedes the string, like the text of a time. */
const ROOM = Buffer.alloc(BLOCK_BYTES, ' ');

interface Read {
  readonly text: string;
  readonly at: number;
}

/** Bytes of a string after ROOM as hex, as a scanner reads them, or its error. */
function read(body: Buffer, inKernel: boolean): Read | string {
  const copy = Buffer.from(body);
  const scanner = new JsonScanner(copy, inKernel);
  scanner.at = ROOM.length;
  try {
    if (inKernel) scanner.longString(0);
    else scanner.string();
  } catch (error) {
    return messageOf(error);
  } finally {
    scanner.close();
  }
  const columns = new PushColumns(scanner.bytes);
  atOnce(scanner.overflow.appendTo(columns));
  return { text: columns.bytes.subarray(scanner.start, scanner.end).toString('hex'), at: scanner.at };
}

function expectSame(string: Buffer): void {
  const body = Buffer.concat([ROOM, string]);
  expect(read(body, true)).toEqual(read(body, false));
}

describe('a long string', () => {
  const part = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ maxLength: 6, unit: 'binary' }),
    fc.constantFrom('"', '\\', '\n', '\0', '{"level":"info"}', 'é日🚀', '\ud800', 'x'.repeat(17)),
  );
  const text = fc.array(part, { maxLength: 12 }).map(parts => parts.join(''));

  test('equals the result of JSON.parse', () => {
    fc.assert(
      fc.property(text, value => {
        const json = JSON.stringify(value);
        const got = read(Buffer.concat([ROOM, Buffer.from(json), Buffer.from(' tail')]), true);
        const want = Buffer.from(JSON.parse(json) as string).toString('hex');
        expect(got).toEqual({ text: want, at: ROOM.length + Buffer.byteLength(json) });
      }),
      { numRuns: 500 },
    );
  });

  test('equals the result of the byte loop, or fails with its error, for any bytes', () => {
    const plain = fc.constantFrom(...Buffer.from('abc "\\/bfnrtu0123456789abcdefDC'));
    const byte = fc.oneof({ weight: 8, arbitrary: plain }, { weight: 1, arbitrary: fc.nat(255) });
    const bytes = fc.array(byte, { maxLength: 120 }).map(all => Buffer.from([0x22, ...all]));
    fc.assert(fc.property(bytes, expectSame), { numRuns: 3000 });
  });

  test('fails if truncated anywhere', () => {
    const whole = Buffer.from(
      JSON.stringify('a line, "quoted", \\ and é日🚀\n'.repeat(3)).replaceAll('q', '\\u0071'),
    );
    for (let end = 1; end <= whole.length; end++) expectSame(whole.subarray(0, end));
  });

  test('ends at each offset of a block, for each length', () => {
    for (let length = 0; length < 70; length++) {
      for (const tail of ['"', '\\""', '\\u0041"', 'é"', '\\']) {
        expectSame(Buffer.from(`"${'x'.repeat(length)}${tail}`));
        expectSame(Buffer.from(`"${'\\"'.repeat(length)}${tail} "more"`));
      }
    }
  });

  test('is repaired in a body that is not valid UTF-8', () => {
    for (const bad of ['80', 'c3', 'e697', 'f09f9a', 'eda080', 'ff']) {
      const bytes = [
        Buffer.from('"\\"long enough for a block: '),
        Buffer.from(bad, 'hex'),
        Buffer.from('\\n"'),
      ];
      expectSame(Buffer.concat(bytes));
    }
  });

  test('is read byte by byte if there is no space to move it', () => {
    const body = Buffer.from('["1","a \\"line\\""]');
    const scanner = new JsonScanner(body, true);
    scanner.enterArray();
    scanner.nextElement();
    scanner.string();
    const free = scanner.start;
    scanner.nextElement();
    scanner.longString(free);
    expect(scanner.text()).toBe('a "line"');
    expect(scanner.start).toBeGreaterThan(free + 1);
    scanner.close();
  });

  test('is read by the kernel in this test', () => {
    const first = KernelBody.open(Buffer.from('"x"'), new Uint8Array(256));
    expect(first).toBeDefined();
    expect(KernelBody.open(Buffer.alloc(8 * 1024 * 1024 + 1), new Uint8Array(256))).toBeUndefined();
    // One after the other.
    expect(KernelBody.open(Buffer.from('"y"'), new Uint8Array(256))).toBeUndefined();
    first?.close();
    const second = KernelBody.open(Buffer.from('"y"'), new Uint8Array(256));
    expect(second).toBeDefined();
    first?.close();
    expect(KernelBody.open(Buffer.from('"z"'), new Uint8Array(256))).toBeUndefined();
    second?.close();
  });
});
