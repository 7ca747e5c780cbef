/**
 * Elasticsearch's bulk API, for agents without another protocol, and the requests that they send first.
 *
 * Errors have Elasticsearch's format, so this handler formats them itself. Official clients refuse servers
 * whose responses, including errors, lack the header `X-elastic-product`.
 */

import { ClientError } from '../../../base/model/errors.ts';
import { ThrottledError } from '../../../base/ports/throttled.ts';
import { bulkReceiver } from '../../../write/ingest/receivers/bulk-receiver.ts';
import {
  DEFAULT_FIELDS,
  type FieldOptions,
  fieldOptions,
} from '../../../write/ingest/receivers/field-options.ts';
import type { HttpContext } from '../context.ts';
import { OVERLOADED } from '../errors.ts';
import type { HttpResponse } from '../message.ts';
import { param, parseParams } from '../params.ts';
import { pushBody } from '../push-body.ts';
import { json, jsonText } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { singleTenant } from '../tenant.ts';
import { type BulkAnswer, bulkAnswer, bulkItems, ERROR_TYPES, REFUSED } from './bulk-answer.ts';

/** Version that agents check. The bulk API has not changed since 8.0. */
const VERSION = '8.19.0';
const FIELDS: FieldOptions = Object.freeze({
  ...DEFAULT_FIELDS,
  timeFields: ['@timestamp', ...DEFAULT_FIELDS.timeFields.filter(name => name !== '@timestamp')],
});
const NO_STREAMS = 422;
const TOO_MANY = 429;

export const pushBulk: Handler<HttpContext> = (context, request) =>
  elastic(async () => {
    const { clock } = context;
    const { rawQuery, pathParams } = request;
    const startMs = clock.nowMs();
    const tenant = singleTenant(request);
    const params = parseParams({ ...request, body: new Uint8Array(0) });
    const fields = fieldOptions(name => param(params, name), FIELDS);
    const receiver = bulkReceiver({ fields, index: pathParams.index ?? '' });
    const answer: BulkAnswer = {
      items: receiver.items,
      stored: new Uint32Array(0),
      reason: '',
      status: REFUSED,
      requestId: request.id,
    };
    try {
      const { stored, error } = await pushBody(context, request, { tenant, receiver, parameters: rawQuery });
      // Some agents retry a request that is answered 429, but ignore the status of items.
      if (error?.status === TOO_MANY && stored.length === 0) throw error;
      answer.stored = stored;
      answer.reason = error?.message ?? '';
      // A configured status for blocked pushes may look like success.
      if (error !== undefined) answer.status = Math.max(error.status, REFUSED);
    } catch (error) {
      // Each item has its own reason if there was nothing to store.
      if (!(error instanceof ClientError && error.status === NO_STREAMS)) throw error;
    }
    const isShort = param(params, 'filter_path') !== '';
    const items = await context.push.paced(tenant, bulkItems(answer, isShort));
    return jsonText(bulkAnswer(items, clock.nowMs() - startMs));
  });

/** Name and version, as `GET /` of Elasticsearch shows them. */
export const showElasticVersion: Handler<HttpContext> = () =>
  elastic(async () =>
    json({
      name: 'logboom',
      cluster_name: 'logboom',
      cluster_uuid: 'logboom',
      version: { number: VERSION, build_flavor: 'default', minimum_wire_compatibility_version: '7.17.0' },
      tagline: 'You Know, for Search',
    }),
  );

/** Beats and Logstash require an active license. */
export const showElasticLicense: Handler<HttpContext> = () =>
  elastic(async () => json({ license: { uid: 'logboom', type: 'basic', mode: 'basic', status: 'active' } }));

/** Health check of Vector. */
export const showElasticHealth: Handler<HttpContext> = () =>
  elastic(async () =>
    json({ cluster_name: 'logboom', status: 'green', timed_out: false, number_of_nodes: 1 }),
  );

/** Templates, pipelines and policies that agents check or create first. Logboom needs none of them. */
export const acceptElasticSetup: Handler<HttpContext> = (_, { method }: RoutedRequest) =>
  elastic(async () => json(method === 'PUT' ? { acknowledged: true } : {}));

async function elastic(answer: () => Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await answer().catch(errorAnswer);
  return { ...response, headers: { ...response.headers, 'x-elastic-product': 'Elasticsearch' } };
}

/** Rethrows errors not caused by the client, which are logged and formatted as usual. */
function errorAnswer(error: unknown): HttpResponse {
  const isThrottled = error instanceof ThrottledError;
  if (!isThrottled && !(error instanceof ClientError)) throw error;
  const status = isThrottled ? 503 : error.status;
  const reason = isThrottled ? OVERLOADED : error.message;
  const cause = { type: ERROR_TYPES[status] ?? 'exception', reason };
  return json({ error: { root_cause: [cause], ...cause }, status }, status);
}
