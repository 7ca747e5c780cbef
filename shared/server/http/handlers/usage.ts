/**
 * GET /svc/api/v1/usage: usage of a tenant by UTC day, with its cost (docs/reference/metrics.md). The
 * reference has no such endpoint.
 */

import { BadRequestError } from '../../../base/model/errors.ts';
import { MS_PER_DAY, NS_PER_DAY } from '../../../base/model/time-units.ts';
import { dayOf } from '../../../storage/catalog/catalog.ts';
import { KEPT_DAYS } from '../../../storage/catalog/usage-records.ts';
import type { UsageDay } from '../../usage/usage-report.ts';
import type { HttpContext } from '../context.ts';
import { parseParams } from '../params.ts';
import { rangeParams } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

const DEFAULT_SINCE_NS = 29n * NS_PER_DAY;
/** Digits to which sums of prices are exact. */
const COST_DIGITS = 9;

export const showUsage: Handler<HttpContext> = async (context, request) => {
  const tenant = singleTenant(request);
  const range = rangeParams(parseParams(request), context.clock.nowNs(), {
    defaultSinceNs: DEFAULT_SINCE_NS,
  });
  const firstDay = dayOf(range.startNs);
  const lastDay = dayOf(range.endNs);
  const days = lastDay - firstDay + 1;
  if (days > KEPT_DAYS) {
    throw new BadRequestError(`the usage range has too many days: ${days}, limit: ${KEPT_DAYS}`);
  }
  const report = await context.usage.reader.read({ tenant, firstDay, lastDay, signal: request.signal });
  const data = {
    tenant,
    currency: context.config.logboom.currency,
    stored_bytes_complete: report.storedIsComplete,
    days: report.days.map(dayAsJson),
  };
  return json({ status: 'success', data });
};

function dayAsJson({ day, figures: { sums, refused, streams }, stored, cost }: UsageDay) {
  return {
    day: new Date(day * MS_PER_DAY).toISOString().slice(0, 10),
    pushes: sums.pushes,
    lines: sums.lines,
    bytes: sums.lineBytes,
    structured_metadata_bytes: sums.metadataBytes,
    streams: streams.count(),
    refused: Object.fromEntries(refused),
    queries: sums.queries,
    query_bytes: Math.round(sums.queryBytes),
    query_seconds: rounded(sums.queryMs / 1000),
    stored_bytes: stored.objectBytes + stored.tableBytes,
    cost: {
      ingest: rounded(cost.ingest),
      storage: rounded(cost.storage),
      queries: rounded(cost.queries),
      total: rounded(cost.total),
    },
  };
}

function rounded(amount: number): number {
  return Number(amount.toFixed(COST_DIGITS));
}
