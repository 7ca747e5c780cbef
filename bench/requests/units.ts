/**
 * DynamoDB units from requests and responses. A write unit is one started KB of an item. A read unit is one
 * started 4 KB of all items of a request, half of that if the read is not consistent. A transaction takes
 * twice the units.
 *
 * Pitfall: the size is that of the item as DynamoDB counts it, including attribute names, with binary values
 * before base64. It is neither the size of the request nor that of the response.
 */

/** Attribute in the protocol's JSON. The store writes no other types. */
interface AttributeJson {
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
  // Two significant digits per byte, and one more.
  const significant = N.replace(/^[-0.]+|\./g, '').replace(/0+$/, '');
  return Math.ceil(significant.length / 2) + 1;
}

/** Write units of an item of `bytes`; a missing item takes one as well. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));
}

/** Read units of one request that read `bytes` of items; an empty result costs as much as a small one. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES)) * (isConsistent ? 1 : EVENTUAL_SHARE);
}
