/**
 * `| decolorize`: removes ANSI sequences (docs/dev/logql-semantics.md#drop-keep-and-decolorize). A sequence is ESC or U+009B, then any of `[ ]
 * ( ) # ; ?`. Then follow either letters, digits and semicolons up to BEL, or numeric parameters and a final
 * character. The scan replaces the usual regular expression, which needs quadratic time on a long sequence of
 * semicolons.
 */
import { textOfBytes } from '../../base/model/byte-text.ts';
import type { Row, RowStage } from './row.ts';

const ESC = 0x1b;
const BEL = 0x07;
const SEMICOLON = 0x3b;
// U+009B in UTF-8.
const CSI_FIRST = 0xc2;
const CSI_SECOND = 0x9b;

const PREFIX = byteClass('[]()#;?');
const DIGIT = byteClass('0123456789');
const FINAL = byteClass('0123456789ABCDEFGHIJKLMNOPRZcfghijklmntqry=><~');
const OSC_TEXT = byteClass('0123456789;ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

function byteClass(chars: string): Uint8Array {
  const members = new Uint8Array(256);
  for (let i = 0; i < chars.length; i++) members[chars.charCodeAt(i)] = 1;
  return members;
}

export function compileDecolorize(): RowStage {
  return (row: Row) => {
    const plain = decolorize(row.source, row.start, row.end);
    if (plain !== undefined) row.setLine(plain);
    return true;
  };
}

/** Returns the text without its sequences, or undefined if it has none. */
export function decolorize(source: Buffer, start: number, end: number): string | undefined {
  let kept: Buffer[] | undefined;
  let keptUntil = start;
  let at = start;
  while (at < end) {
    let after = -1;
    if (source[at] === ESC) after = sequenceEnd(source, at + 1, end);
    else if (source[at] === CSI_FIRST && at + 1 < end && source[at + 1] === CSI_SECOND) {
      after = sequenceEnd(source, at + 2, end);
    }
    if (after < 0) {
      at++;
      continue;
    }
    kept ??= [];
    kept.push(source.subarray(keptUntil, at));
    keptUntil = after;
    at = after;
  }
  if (kept === undefined) return undefined;
  kept.push(source.subarray(keptUntil, end));
  return textOfBytes(Buffer.concat(kept));
}

/** Returns the offset after the sequence whose introducer ends before `at`, or -1 if there is none. */
function sequenceEnd(source: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && PREFIX[source[i]] === 1) i++;
  let text = i;
  while (text < end && OSC_TEXT[source[text]] === 1) text++;
  if (text < end && source[text] === BEL) return text + 1;

  // Parameters: up to 4 digits, then groups of a semicolon and up to 4 digits.
  let parameters = i;
  let lastDigit = -1;
  for (;;) {
    const limit = Math.min(parameters + 4, end);
    const groupStart = parameters;
    while (parameters < limit && DIGIT[source[parameters]] === 1) lastDigit = parameters++;
    if (groupStart === i && parameters === i) break;
    if (parameters >= end || source[parameters] !== SEMICOLON) break;
    parameters++;
  }
  if (parameters < end && FINAL[source[parameters]] === 1) return parameters + 1;
  // A digit may itself be the final character.
  return lastDigit < 0 ? -1 : lastDigit + 1;
}
