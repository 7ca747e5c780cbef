/** Checks whether a tenant may use the delete API (docs/dev/wire-format.md#availability). */
import { ClientError } from '../../base/model/errors.ts';
import type { HttpContext } from './context.ts';
import type { HttpRequest } from './message.ts';
import { singleTenant } from './tenant.ts';

/**
 * Tenant of the request. Throws ClientError: 404 if retention is disabled for the whole store, as for a
 * missing route; 401 and 400 for the tenant header; 403 if the tenant may not delete.
 */
export function deletingTenant(
  { config, limitsOf }: Pick<HttpContext, 'config' | 'limitsOf'>,
  request: Pick<HttpRequest, 'tenants'>,
): string {
  if (!config.compactor.retentionEnabled) throw new ClientError(404, '404 page not found');
  const tenant = singleTenant(request);
  if (limitsOf(tenant).deletionMode === 'disabled') {
    throw new ClientError(403, 'deletion is not available for this tenant');
  }
  return tenant;
}
