/**
 * Encodes whole numbers up to 2^53: either the numbers minus the minimum, or their differences (zigzag),
 * whichever has the smaller range. Then all lowest bytes, all second bytes and so on, because the high ones
 * are similar.
 */

/** Header: coding, bytes per number, and the base number as a double. */
export const NUMBERS_HEAD_BYTES = 10;

export function packNumbers(values: readonly number[]): Buffer {
  const least = values.reduce((a, b) => Math.min(a, b));
  const direct = values.map(value => value - least);
  const differences = values.map((value, i) => zigzag(i === 0 ? 0 : value - values[i - 1]));
  const isDelta = mean(differences) < mean(direct) / 4;
  const chosen = isDelta ? differences : direct;
  const width = bytesOf(chosen.reduce((a, b) => Math.max(a, b)));
  const out = Buffer.alloc(NUMBERS_HEAD_BYTES + width * values.length);
  out[0] = isDelta ? 1 : 0;
  out[1] = width;
  out.writeDoubleLE(isDelta ? values[0] : least, 2);
  for (let plane = 0; plane < width; plane++) {
    const divisor = 256 ** plane;
    for (let i = 0; i < chosen.length; i++) {
      out[NUMBERS_HEAD_BYTES + plane * chosen.length + i] = Math.floor(chosen[i] / divisor) % 256;
    }
  }
  return out;
}

export function unpackNumbers(bytes: Buffer, count: number): number[] {
  const base = bytes.readDoubleLE(2);
  const values: number[] = [];
  for (let i = 0; i < count; i++) {
    let value = 0;
    for (let plane = bytes[1] - 1; plane >= 0; plane--)
      value = value * 256 + bytes[NUMBERS_HEAD_BYTES + plane * count + i];
    if (bytes[0] === 0) values.push(value + base);
    else values.push((i === 0 ? base : values[i - 1]) + (value % 2 === 0 ? value / 2 : -(value + 1) / 2));
  }
  return values;
}

function zigzag(value: number): number {
  return value >= 0 ? 2 * value : -2 * value - 1;
}

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

function bytesOf(most: number): number {
  let width = 0;
  for (let rest = most; rest >= 1; rest /= 256) width++;
  return width;
}
