/**
 * Units of DynamoDB, from what stands in requests and answers. A write unit is a begun KB of an item, a read unit a begun 4 KB of
 * all the items of a request together, half of that where the read is not consistent; a transaction takes twice the units.
 *
 * A reader would get wrong: the size is that of the item as DynamoDB counts it, names of attributes included and binary values
 * before base64, and neither that of the request nor that of the answer.
 */

/** An attribute in the protocol's JSON. The store writes no other types. */
export interface AttributeJson {
  readonly S?: string;
  readonly N?: string;
  /** Base64. */
  readonly B?: string;
}

export type ItemJson = Readonly<Record<string, AttributeJson>>;

const WRITE_UNIT_BYTES = 1024;
const READ_UNIT_BYTES = 4096;
const EVENTUAL_SHARE = 0.5;

export function itemBytes(item: ItemJson): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueBytes(value);
  return bytes;
}

function valueBytes({ S, N, B }: AttributeJson): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (B !== undefined) return Buffer.byteLength(B, 'base64');
  if (N === undefined) throw new Error('an attribute that is neither text, number nor bytes');
  // Two significant digits to a byte, and one more.
  const significant = N.replace(/^[-0.]+|\./g, '').replace(/0+$/, '');
  return Math.ceil(significant.length / 2) + 1;
}

/** Of an item of so many bytes; what is not there takes one as well. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));
}

/** Of one request that read so many bytes of items; one that finds nothing takes as much as one that finds little. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES)) * (isConsistent ? 1 : EVENTUAL_SHARE);
}
