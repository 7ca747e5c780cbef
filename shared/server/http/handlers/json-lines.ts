/**
 * POST /svc/api/v1/push/jsonline and /insert/jsonline: one JSON document per line, with VictoriaLogs'
 * parameters.
 */

import { BadRequestError, ClientError } from '../../../base/model/errors.ts';
import { DEFAULT_FIELDS, fieldOptions } from '../../../write/ingest/receivers/field-options.ts';
import { jsonLinesReceiver } from '../../../write/ingest/receivers/json-lines-receiver.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { pushBody } from '../push-body.ts';
import { noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

const NO_STREAMS = 422;
const REFUSED = 400;

export const pushJsonLines: Handler<HttpContext> = async (context, request) => {
  const tenant = singleTenant(request);
  // Reads only the query string, because curl sends bodies as a form by default.
  const params = parseParams({ ...request, body: new Uint8Array(0) });
  const receiver = jsonLinesReceiver(fieldOptions(name => param(params, name), DEFAULT_FIELDS));
  let refused: string | undefined;
  try {
    const { error } = await pushBody(context, request, { tenant, receiver, parameters: request.rawQuery });
    if (error !== undefined && error.status !== REFUSED) throw error;
    refused = error?.message;
  } catch (error) {
    // A push without entries is not an error: agents may flush an empty buffer.
    if (!(error instanceof ClientError && error.status === NO_STREAMS)) throw error;
  }
  const messages = [receiver.failure(), refused].filter(message => message !== undefined);
  if (messages.length > 0) throw new BadRequestError(messages.join('; '));
  return noContent();
};
