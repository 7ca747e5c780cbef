/** Texts as ranges of bytes, and their numbers in a dictionary. */
import { type TextRanges, textColumnsOfThread } from '../../base/kernels/text-columns.ts';
import { scratch } from './scratch.ts';

/** Texts as they are written, each after its length. */
export interface WrittenTexts {
  readonly texts: Uint8Array;
  readonly size: number;
}

/** Texts of a dictionary and the number of each value; or all values. */
export type TextValues =
  | { readonly type: 'BYTE_ARRAY'; readonly texts: TextRanges }
  | {
      readonly type: 'BYTE_ARRAY';
      readonly dictionary: TextRanges | WrittenTexts;
      readonly indexes: Uint32Array;
    }
  /** The indexes as they are written, and how many there are. */
  | {
      readonly type: 'BYTE_ARRAY';
      readonly dictionary: TextRanges;
      readonly indexPage: Uint8Array;
      readonly count: number;
    };

export function rangesOf(texts: readonly string[]): TextRanges {
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [i, text] of texts.entries()) {
    starts[i] = end;
    end += Buffer.byteLength(text);
    ends[i] = end;
  }
  return { bytes: Buffer.from(texts.join('')), starts, ends };
}

/** Values after which a column that hardly repeats them gets no dictionary. */
const TRIED_VALUES = 512;

/** Chooses a dictionary if the texts repeat at least once on average, and are found in few steps. */
export function textValues(texts: TextRanges): TextValues {
  const { bytes, starts, ends } = texts;
  const numbered = starts.length === 0 ? undefined : textColumnsOfThread().number(texts, TRIED_VALUES);
  if (numbered === undefined || 2 * numbered.firsts.length > starts.length)
    return { type: 'BYTE_ARRAY', texts };
  // The page of the dictionary overwrites the result of the kernel.
  const indexes = scratch('indexes', Uint32Array, starts.length);
  indexes.set(numbered.numbers);
  const { firsts } = numbered;
  const dictionary = { bytes, starts: firsts.map(i => starts[i]), ends: firsts.map(i => ends[i]) };
  return { type: 'BYTE_ARRAY', dictionary, indexes };
}
