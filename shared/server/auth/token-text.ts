/**
 * Text format of a token, which its owner sees once:
 *
 *     lgbm_ <id: 11> _ <secret: 43> <checksum: 6>      all in base 62
 *
 * The prefix lets people and repository scanners recognize a token. The ID finds the record. The secret is
 * 256 random bits. The checksum (crc32 of everything before it) detects typing errors and truncated pastes
 * without reading the table.
 *
 * The store saves the SHA-256 of the whole text. Slow hashes protect passwords that can be guessed. 256 random
 * bits cannot be guessed, and a slow hash would cost each request of an agent 100 ms, or let an attacker
 * use up our CPU.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Ids } from '../../base/ports/clock.ts';

export const TOKEN_PREFIX = 'lgbm_';

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Digits for 64, 256 and 32 bits. */
const ID_LENGTH = 11;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

const TOKEN_LENGTH = TOKEN_PREFIX.length + ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH;
const FORM = /^lgbm_([0-9A-Za-z]{11})_[0-9A-Za-z]{49}$/;
const ID_FORM = /^[0-9A-Za-z]{11}$/;

interface NewToken {
  readonly id: string;
  readonly text: string;
}

export function newToken(ids: Ids): NewToken {
  const id = base62(BigInt(`0x${ids.randomHex(ID_BYTES)}`), ID_LENGTH);
  const secret = base62(BigInt(`0x${ids.randomHex(SECRET_BYTES)}`), SECRET_LENGTH);
  const start = `${TOKEN_PREFIX}${id}_${secret}`;
  return { id, text: start + checksum(start) };
}

/**
 * ID of a text in the form of a token with a valid checksum; `undefined` for any other text of any length.
 */
export function idOfToken(text: string): string | undefined {
  if (text.length !== TOKEN_LENGTH) return undefined;
  const id = FORM.exec(text)?.[1];
  const start = text.slice(0, -CHECKSUM_LENGTH);
  return id !== undefined && text.endsWith(checksum(start)) ? id : undefined;
}

/** Checks whether a text can be the ID of a token, so that other texts are not looked up. */
export function isTokenId(text: string): boolean {
  return ID_FORM.test(text);
}

/** SHA-256 of a token or a ticket. */
export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let out = '';
  for (let left = value; out.length < length; left /= 62n) out = DIGITS[Number(left % 62n)] + out;
  return out;
}
