/**
 * Bytes of a promoted column, the content of a block of kind 5. What is large in it is compressed here, in sections of
 * one statistic each, because one zstd block has one table of symbols: with the noise of low bytes beside skewed high bytes,
 * durations took 4 to 11% more. So the chunk stores the block as it is.
 *
 *     encoding(u8)  rows(varint)  symbols  codes-sections  rest
 *
 * `symbols` are the codes that occur: their count, then each as a varint. A row is the place of its code in that list,
 * packed into 1, 2, 4 or 8 bits (low bits first), or into 16 as two sections (low bytes, high bytes); with one symbol
 * there are no sections. Codes are those of column-cells.ts.
 *
 * The rest of a dictionary is its values: count(varint), total bytes(varint), section of lengths (varints), section of
 * bytes. That of numbers: shapes (count, then places and unit each), texts (count, then each with its length), mode(u8),
 * width(u8), base(signed varint), and `width` sections: the bytes of (mantissa - base), lowest first, of the rows with a
 * number or a text; in mode 1 of the zigzag of the difference to the number before.
 */
export const DICTIONARY_ENCODING = 1;
export const NUMBER_ENCODING = 2;

export const PLAIN_MODE = 0;
export const DELTA_MODE = 1;

/** Bytes of a difference of two mantissas: 2 * 10^15, doubled by its sign. */
export const MAX_WIDTH = 7;

/** Bits of one symbol. */
export function symbolBits(symbols: number): number {
  if (symbols <= 1) return 0;
  if (symbols <= 2) return 1;
  if (symbols <= 4) return 2;
  if (symbols <= 16) return 4;
  return symbols <= 256 ? 8 : 16;
}
