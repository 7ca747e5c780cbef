/**
 * Query of a delete request. It is a log query with one rule less: its selector may match every stream, such
 * as `{app!="x"}`, because deletion reads everything anyway.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { lacksAddress } from '../../execution/pipeline/ip.ts';
import { compileLogPipeline } from '../../execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { parseLogQuery } from '../../language/logql/parse.ts';

/**
 * Returns the frozen tree of the query. Throws BadRequestError even for a query that parses but cannot run (a
 * template, a regular expression of a line filter), because such a request would never be processed. Accepts
 * an `ip()` without an address, like the reference.
 */
export function parseDeleteQuery(text: string, { clock }: { clock: Clock }): LogExpr {
  try {
    const query = parseLogQuery(text);
    compileLogPipeline({ ...query, stages: query.stages.filter(stage => !lacksAddress(stage)) }, { clock });
    return query;
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    throw new BadRequestError('invalid query expression', { cause: error });
  }
}

/**
 * False if an `ip()` has no address, which shows only when the request runs. Such a request hides nothing and
 * is not accepted. The reference refuses every query of the tenant from then on.
 */
export function canRun({ stages }: LogExpr): boolean {
  return !stages.some(lacksAddress);
}
