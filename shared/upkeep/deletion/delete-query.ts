/**
 * The query of a delete request. It is a log query, with one rule less than queries have: its selector may accept every
 * stream, `{app!="x"}`, because who deletes reads everything anyway.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { lacksAddress } from '../../execution/pipeline/ip.ts';
import { compileLogPipeline } from '../../execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { parseLogQuery } from '../../language/logql/parse.ts';

/**
 * The frozen tree of the query. Throws BadRequestError also for what parses and cannot run (a template, a regular expression of
 * a line filter): such a request would never be processed. An `ip()` without an address is taken, as in the reference.
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
 * False where an `ip()` has no address, which is found out when the request is to run: it hides nothing, and is not picked up.
 * The reference refuses every query of the tenant from then on.
 */
export function canRun({ stages }: LogExpr): boolean {
  return !stages.some(lacksAddress);
}
