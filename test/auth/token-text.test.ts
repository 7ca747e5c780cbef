import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { hashOf, idOfToken, isTokenId, newToken, TOKEN_PREFIX } from '../../shared/server/auth/token-text.ts';

const hex = (bytes: number) => ({ randomHex: (count: number) => 'f0'.repeat(count).slice(0, bytes * 2) });
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_';

describe('the text of a token', () => {
  test('has the same length, a prefix, and its id in it, whatever the bits', () => {
    for (const [bits, id] of [
      ['00', '00000000000'],
      ['ff', 'LygHa16AHYF'],
    ]) {
      const made = newToken({ randomHex: bytes => bits.repeat(bytes) });
      expect(made.id).toBe(id);
      expect(made.text).toMatch(/^lgbm_[0-9A-Za-z]{11}_[0-9A-Za-z]{49}$/);
      expect(idOfToken(made.text)).toBe(id);
      expect(isTokenId(made.id)).toBe(true);
    }
  });

  test('different bits make different tokens, and all 256 of the secret are in it', () => {
    const texts = new Set<string>();
    for (let byte = 0; byte < 32; byte++) {
      const secret = Buffer.alloc(32);
      secret[byte] = 1;
      const made = newToken({ randomHex: n => (n === 32 ? secret.toString('hex') : hex(n).randomHex(n)) });
      texts.add(made.text);
    }
    expect(texts.size).toBe(32);
  });

  test('one wrong character is noticed before anything is asked', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(), fc.constantFrom(...DIGITS), (seed, at, digit) => {
        const { id, text } = newToken(seededIds(seed));
        const offset = at % text.length;
        const changed = text.slice(0, offset) + digit + text.slice(offset + 1);
        expect(idOfToken(changed)).toBe(changed === text ? id : undefined);
      }),
      { numRuns: 200 },
    );
  });

  test.each(['', 'x', TOKEN_PREFIX, 'lgbm_', `${'x'.repeat(66)}`, 'ghp_0123', `lgbm_${'0'.repeat(100_000)}`])(
    'is invalid: %.20s',
    text => expect(idOfToken(text)).toBeUndefined(),
  );

  test('the hash is of the whole text', () => {
    const { text } = newToken(seededIds(1));
    expect(hashOf(text)).toHaveLength(32);
    expect(hashOf(text).equals(hashOf(`${text} `))).toBe(false);
  });
});
