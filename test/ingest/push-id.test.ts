import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { atOnce } from '../../shared/base/model/steps.ts';
import { idOfPush } from '../../shared/write/ingest/push-id.ts';

const SMALL = 1000;
const LARGE = 300_000;

describe('idOfPush', () => {
  test.each([SMALL, LARGE])('is equal for equal bodies of %d bytes', size => {
    const body = Buffer.alloc(size, 'some log line ');
    expect(atOnce(idOfPush(body, 'rest'))).toMatch(/^[0-9a-f]{32}$/);
    expect(atOnce(idOfPush(Buffer.from(body), 'rest'))).toBe(atOnce(idOfPush(body, 'rest')));
  });

  test.each([SMALL, LARGE])('differs with any bit of a body of %d bytes', size => {
    const body = Buffer.alloc(size, 'some log line ');
    const id = atOnce(idOfPush(body, 'rest'));
    fc.assert(
      fc.property(fc.nat(size - 1), fc.nat(7), (at, bit) => {
        const changed = Buffer.from(body);
        changed[at] ^= 1 << bit;
        expect(atOnce(idOfPush(changed, 'rest'))).not.toBe(id);
      }),
      { numRuns: 40 },
    );
  });

  test.each([SMALL, LARGE])('differs with the length and the encoding, %d bytes', size => {
    const body = Buffer.alloc(size);
    const ids = [
      atOnce(idOfPush(body, 'rest')),
      atOnce(idOfPush(body, 'Rest')),
      atOnce(idOfPush(body, 'rest\0')),
      atOnce(idOfPush(body, '')),
      atOnce(idOfPush(Buffer.alloc(size + 1), 'rest')),
      atOnce(idOfPush(Buffer.alloc(size - 1), 'rest')),
      atOnce(idOfPush(Buffer.concat([body, Buffer.from('r')]), 'est')),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
