/** Which names a tenant may have (wire-format reference, 9.1): they become parts of keys in every store. */
import { BadRequestError } from './errors.ts';

export const MAX_TENANT_BYTES = 150;
/** Of a query over several tenants the one whose name is empty: it has nothing, and is looked for nowhere. */
export const NO_TENANT = '';

const UNSUPPORTED = /[^0-9a-zA-Z!\-_.*'()]/;

/** Throws BadRequestError. Characters first, then length, then dots, as the reference. */
export function checkTenantId(id: string): void {
  const strange = UNSUPPORTED.exec(id);
  if (strange !== null) {
    throw new BadRequestError(`tenant ID '${shown(id)}' contains unsupported character '${strange[0]}'`);
  }
  if (id.length > MAX_TENANT_BYTES) {
    throw new BadRequestError(`tenant ID is too long: max ${MAX_TENANT_BYTES} characters`);
  }
  if (id === '.' || id === '..') throw new BadRequestError("tenant ID is '.' or '..'");
}

/** Header values arrive as one character per byte; the message shows the text that the client meant. */
function shown(id: string): string {
  return Buffer.from(id, 'latin1').toString('utf8');
}
