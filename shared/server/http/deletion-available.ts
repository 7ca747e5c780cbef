/** Who may use the API for deletes (docs/dev/wire-format.md#availability), and for which tenant. */
import { ClientError } from '../../base/model/errors.ts';
import type { HttpContext } from './context.ts';
import type { HttpRequest } from './message.ts';
import { singleTenant } from './tenant.ts';

/**
 * The request's one tenant. Throws ClientError: 404 where the whole store has no retention, as if there was no such route;
 * 401 and 400 of the tenant header; 403 where the tenant may not delete.
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
