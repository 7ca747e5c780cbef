/** Texts one behind the other, such as the values of a column. A page may have thousands, so they are not separate objects. */
import type { TextList } from '../../base/kernels/field-cells.ts';

export type { TextList } from '../../base/kernels/field-cells.ts';

export function textListOf(texts: readonly Uint8Array[]): TextList {
  const starts = new Uint32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) starts[i + 1] = starts[i] + text.length;
  return { bytes: Buffer.concat(texts), starts };
}

export function textCount({ starts }: TextList): number {
  return starts.length - 1;
}

/** Returns a view of a text. */
export function textAt({ bytes, starts }: TextList, i: number): Buffer {
  return bytes.subarray(starts[i], starts[i + 1]);
}
