/** Validates tenant IDs (docs/dev/wire-format.md#tenant-ids): they become parts of keys in every store. */
import { BadRequestError } from './errors.ts';

export const MAX_TENANT_BYTES = 150;
/** Empty tenant ID in a query over several tenants. It has no data and is never looked up. */
export const NO_TENANT = '';

const UNSUPPORTED = /[^0-9a-zA-Z!\-_.*'()]/;

/** Checks a tenant ID. Throws BadRequestError. */
export function checkTenantId(id: string): void {
  const fault = tenantIdFault(id);
  if (fault !== undefined) throw new BadRequestError(fault);
}

/**
 * Returns the fault of an ID, or undefined. Checks characters first, then length, then dots, as Loki does.
 */
export function tenantIdFault(id: string): string | undefined {
  const strange = UNSUPPORTED.exec(id);
  if (strange !== null) return `tenant ID '${shown(id)}' contains unsupported character '${strange[0]}'`;
  if (id.length > MAX_TENANT_BYTES) return `tenant ID is too long: max ${MAX_TENANT_BYTES} characters`;
  return id === '.' || id === '..' ? "tenant ID is '.' or '..'" : undefined;
}

/**
 * Decodes an ID for a message. Header values arrive with one character per byte; the message shows the text
 * that the client meant.
 */
function shown(id: string): string {
  return Buffer.from(id, 'latin1').toString('utf8');
}
