/**
 * `GET /svc/api/v1/export`: entries of a log query as bytes of a file, from the start of a range. The
 * response ends at a size limit. The header `x-logboom-next` is the start of the next request.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import { quote } from '../../../base/model/quote.ts';
import { parseQuery } from '../../../language/logql/parse.ts';
import type { HttpContext } from '../context.ts';
import { EXPORT_FORMATS, EXPORT_TYPES, type ExportEncoding, encodeExport } from '../export-format.ts';
import { param, parseParams } from '../params.ts';
import { limitParam, rangeParams } from '../query-params.ts';
import type { Handler } from '../routes.ts';
import { requesterOf } from './query.ts';

/** About 60,000 lines. Larger responses read fewer pages twice, but use more memory. */
const DEFAULT_BYTES = 16 * 1024 * 1024;
/** JSON lines of small lines are three times as large. */
const MAX_BYTES = 64 * 1024 * 1024;

export const exportEntries: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  const sent = parseParams(request);
  const { startNs, endNs } = rangeParams(sent, context.clock.nowNs());
  const format = formatOf(param(sent, 'format'));
  const maxBytes = Math.min(limitParam(sent, 'bytes', { initial: DEFAULT_BYTES }), MAX_BYTES);
  const text = param(sent, 'query');
  const expr = parseQuery(text);
  if (expr.kind !== 'log') throw new BadRequestError('an export needs a log query; this is a metric query');
  const hasLabels = format !== 'text';
  return context.engine.export(
    { startNs, endNs, text, expr, maxBytes, hasLabels },
    requester,
    async exported => {
      // Formatting counts as CPU time of the tenant.
      const pace = context.reading.source.scheduler.pace(requester.tenantsKey);
      pace.resume();
      const yieldSlice = async () => {
        await pace.yieldIfDue();
        requester.signal.throwIfAborted();
      };
      const encoded = await encodeExport(exported, format, yieldSlice, context.bodies);
      pace.pause();
      const headers: Record<string, string> = {
        'content-type': EXPORT_TYPES[format],
        'x-logboom-entries': `${exported.rows.count}`,
        'x-logboom-bytes': `${exported.rows.lineBytes}`,
      };
      if (exported.endNs < endNs) headers['x-logboom-next'] = `${exported.endNs}`;
      return { status: 200, headers, ...encoded };
    },
  );
};

function formatOf(text: string): ExportEncoding {
  const format = text === '' ? 'jsonl' : EXPORT_FORMATS.find(each => each === text);
  if (format === undefined)
    throw new BadRequestError(`format ${quote(text)} is not one of ${EXPORT_FORMATS.join(', ')}`);
  return format;
}
