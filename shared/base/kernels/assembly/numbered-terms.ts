/**
 * Adds the terms of texts with a number (numbered-pack.ts). Texts with the same affixes have the same terms, except those with
 * digits of the number. So the first of them is added, and of the others only the digits, or nothing, or those in which the number
 * is part of a long run of letters and digits.
 */
import { bytesAfter, bytesBefore, hasDot } from './column-contexts';
import { gatherOnce } from './gathered-texts';
import { RECORD_MODE, recordOf } from './number-pack';
import { AFFIX_HEAD, NO_INDEXES, OWN_TEXT } from './numbered-pack';
import { AFFIX_RULE, AFFIX_RULES, MAX_ENTRIES } from './split-layout';
import { DOT, isAlnum } from './text-bytes';
import { addDigits, MIN_TOKEN_BYTES, SAMPLE_BYTES } from './text-terms';
import { bytesOf, startOf } from './value-spans';

// What is added of the texts with the same affixes.
const UNSEEN: u8 = 0;
/** Only the first one. */
const FIRST: u8 = 1;
/** The digits of each number. */
const DIGITS: u8 = 2;
/** Each text in which the run of letters and digits around the number has a token or more. */
const LONG: u8 = 3;
const ALL: u8 = 4;

// Layout of a rule: kind; bytes of a text that are not digits of its whole number; bytes before the number; other bytes of its run.
const OTHERS: usize = 2;
const BEFORE: usize = 4;
const JOINED: usize = 6;

/** Adds a column whose output begins at `out`. */
export function addNumbered(column: usize, spans: usize, end: usize, out: usize): void {
  const before = bytesBefore(column);
  const around = before + bytesAfter(column);
  const record = recordOf(column);
  const isIndexed = (u32(load<u8>(record, RECORD_MODE)) & NO_INDEXES) === 0;
  const heads = isIndexed ? out + ((end - spans) >>> 3) : out;
  memory.fill(AFFIX_RULES, 0, AFFIX_RULE * MAX_ENTRIES);
  let index = out;
  for (let span = spans; span < end; span += 8) {
    const affix = isIndexed ? u32(load<u8>(index++)) : 0;
    const at = startOf(span, 0);
    const bytes = bytesOf(span, 0);
    const rule = AFFIX_RULES + usize(affix) * AFFIX_RULE;
    const kind = load<u8>(rule);
    if (kind === FIRST) continue;
    if (kind === DIGITS || kind === LONG) {
      const digits = bytes - usize(load<u16>(rule, OTHERS));
      if (kind === DIGITS && digits < SAMPLE_BYTES) {
        addDigits(at + usize(load<u16>(rule, BEFORE)), digits);
        continue;
      }
      if (digits + usize(load<u16>(rule, JOINED)) < MIN_TOKEN_BYTES) continue;
    } else if (kind === UNSEEN) {
      if (affix === OWN_TEXT) store<u8>(rule, ALL);
      else layRule(rule, heads + usize(affix) * AFFIX_HEAD, at, bytes, hasDot(column));
    }
    gatherOnce(at - before, bytes + around);
  }
}

/**
 * Writes what is added of texts with the same affixes as the one at `at`.
 * @param head Head of the affixes (numbered-pack.ts)
 * @param hasDotAround Whether a dot may be next to a text
 */
function layRule(rule: usize, head: usize, at: usize, bytes: usize, hasDotAround: bool): void {
  const before = usize(load<u16>(head));
  const after = usize(load<u16>(head, 2));
  const form = usize(load<u8>(head, 4));
  store<u8>(rule, FIRST);
  if (form === 0) return;
  const number = at + before;
  const behind = at + bytes - after;
  const end = at + bytes;
  let start = number;
  while (start > at && isAlnum(load<u8>(start - 1))) start--;
  let stop = behind;
  while (stop < end && isAlnum(load<u8>(stop))) stop++;
  const isBehindDot = number === at ? hasDotAround : load<u8>(number - 1) === DOT;
  const isBeforeDot = behind === end ? hasDotAround : load<u8>(behind) === DOT;
  const fraction: usize = form === 1 ? 0 : form;
  const joined = number - start + (form === 1 ? stop - behind : 0);
  store<u16>(rule, u16(before + after + fraction), OTHERS);
  store<u16>(rule, u16(before), BEFORE);
  store<u16>(rule, u16(joined), JOINED);
  const hasSamples = form > 1 && form - 1 + stop - behind >= SAMPLE_BYTES;
  if (isBehindDot || isBeforeDot || hasSamples) store<u8>(rule, ALL);
  else store<u8>(rule, joined === 0 ? DIGITS : LONG);
}
