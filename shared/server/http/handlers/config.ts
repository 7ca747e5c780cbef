/**
 * The configuration, complete or in parts, and the limits of a tenant
 * (docs/dev/wire-format.md#configuration, #drilldown-limits).
 */
import { stringify } from 'yaml';
import { type FormatMode, formatConfig, formatLimits } from '../../admin/config.ts';
import { DEFAULT_CONFIG } from '../../admin/config-fields.ts';
import { checkConfigPaths, pickPaths, type Tree, valueAt } from '../../admin/config-query.ts';
import type { HttpContext } from '../context.ts';
import { errorResponse } from '../errors.ts';
import type { HttpResponse } from '../message.ts';
import { param, paramValues, parseParams } from '../params.ts';
import { json, text } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

/** Header of the contract, and the one that existing clients send. */
const QUERY_HEADERS = ['x-svc-config-query', 'x-loki-config-query'];

export const showConfig: Handler<HttpContext> = async ({ config }, request) => {
  const params = parseParams(request);
  const paths = checkConfigPaths(paramValues(params, 'q'));
  const mode = modeOf(param(params, 'mode'));
  const asJson = (request.headers.accept ?? '').includes('application/json');
  const tree = formatConfig(config, { mode });
  if (paths.length === 0) return shown(tree, asJson);
  const echo = Object.fromEntries(QUERY_HEADERS.map(name => [name, paths.join(', ')]));
  // Includes names that are printed only if they differ from the default.
  const known = [formatConfig(config, { mode: 'full' }), formatConfig(DEFAULT_CONFIG, { mode: 'full' })];
  const strange = paths.filter(path => !known.some(all => valueAt(all, path).known));
  const answer =
    strange.length === 0
      ? shown(pickPaths(tree, paths), asJson)
      : errorResponse(400, `unknown configuration keys: ${strange.join(', ')}`, 'push');
  return { ...answer, headers: { ...answer.headers, ...echo } };
};

export const showTenantLimits: Handler<HttpContext> = async ({ limitsOf }, request) =>
  text(stringify(formatLimits(limitsOf(singleTenant(request)))));

function modeOf(written: string): FormatMode {
  return written === 'diff' || written === 'defaults' ? written : 'full';
}

function shown(tree: Tree, asJson: boolean): HttpResponse {
  return asJson ? json(tree) : text(stringify(tree));
}
