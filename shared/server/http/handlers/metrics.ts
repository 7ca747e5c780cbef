/** GET /metrics, in Prometheus text format 0.0.4 (docs/dev/wire-format.md#metrics). Needs no tenant. */
import type { HttpContext } from '../context.ts';
import { text } from '../respond.ts';
import type { Handler } from '../routes.ts';

export const showMetrics: Handler<HttpContext> = async ({ metrics: { registry }, metricsText }) =>
  text(await metricsText(), 200, registry.contentType);
