/**
 * Elasticsearch's bulk API, for agents that know no other, and what they ask before they ship.
 *
 * Errors have Elasticsearch's shape here, which is why this handler writes them itself. Official clients talk to nobody
 * whose answers, errors included, lack the header `X-elastic-product`.
 */

import { ClientError } from '../../../base/model/errors.ts';
import { ThrottledError } from '../../../base/ports/throttled.ts';
import {
  type BulkFailure,
  type BulkItem,
  bulkReceiver,
} from '../../../write/ingest/receivers/bulk-receiver.ts';
import {
  DEFAULT_FIELDS,
  type FieldOptions,
  fieldOptions,
} from '../../../write/ingest/receivers/field-options.ts';
import { maxDecompressedBytes } from '../../admin/config.ts';
import type { HttpContext } from '../context.ts';
import { OVERLOADED } from '../errors.ts';
import type { HttpResponse } from '../message.ts';
import { param, parseParams } from '../params.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

/** What agents ask for the version of; the API of bulk requests has been the same since 8.0. */
const VERSION = '8.19.0';
const FIELDS: FieldOptions = Object.freeze({
  ...DEFAULT_FIELDS,
  timeFields: ['@timestamp', ...DEFAULT_FIELDS.timeFields.filter(name => name !== '@timestamp')],
});
/** Items that are told their reason in full; a request may hold 250,000. */
const MAX_REASONS = 1000;
const MAX_REASON_CHARACTERS = 512;
const NO_STREAMS = 422;
const CREATED = 201;
const REFUSED = 400;

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'illegal_argument_exception',
  401: 'security_exception',
  413: 'content_too_long_exception',
  429: 'es_rejected_execution_exception',
  503: 'es_rejected_execution_exception',
};

export const pushBulk: Handler<HttpContext> = (context, request) =>
  elastic(async () => {
    const { config, clock } = context;
    const { headers, body, rawQuery, pathParams } = request;
    const startMs = clock.nowMs();
    const tenant = singleTenant(headers, config);
    const params = parseParams({ ...request, body: new Uint8Array(0) });
    const fields = fieldOptions(name => param(params, name), FIELDS);
    const receiver = bulkReceiver({ fields, index: pathParams.index ?? '' });
    const push = {
      tenant,
      body,
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      receiver,
      parameters: rawQuery,
    };
    const bodyLimits = {
      maxBodyBytes: config.distributor.maxRecvMsgSize,
      maxDecompressedBytes: maxDecompressedBytes(config),
    };
    const answer: BulkAnswer = {
      items: receiver.items,
      stored: new Uint32Array(0),
      reason: '',
      status: REFUSED,
      requestId: request.id,
    };
    try {
      const { stored, error } = await context.push.push(push, context.limitsOf(tenant), bodyLimits);
      answer.stored = stored;
      answer.reason = error?.message ?? '';
      // A status of the configuration for blocked pushes may look like success.
      if (error !== undefined) answer.status = Math.max(error.status, REFUSED);
    } catch (error) {
      // Each item has its own reason why there was nothing to store.
      if (!(error instanceof ClientError && error.status === NO_STREAMS)) throw error;
    }
    return bulkAnswer(answer, clock.nowMs() - startMs, param(params, 'filter_path') !== '');
  });

interface BulkAnswer {
  readonly items: readonly BulkItem[];
  /** Places of the entries that are stored, ascending. */
  stored: Uint32Array;
  /** Why the other entries are not. */
  reason: string;
  status: number;
  readonly requestId: string;
}

/** `isShort`: the client asks for a part (`filter_path`), which for those that ship logs is status and error. */
function bulkAnswer(answer: BulkAnswer, tookMs: number, isShort: boolean): HttpResponse {
  const { items, stored, reason, status, requestId } = answer;
  const refusal: BulkFailure = {
    type: ERROR_TYPES[status] ?? 'illegal_argument_exception',
    reason: reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed(),
  };
  let next = 0;
  let failed = 0;
  const told = items.map(({ action: { operation, index, id }, entry, failure }, i) => {
    const isStored = entry >= 0 && stored[next] === entry;
    if (isStored) next++;
    const named = isShort ? {} : { _index: index, _id: id === '' ? `${requestId}-${i}` : id };
    if (isStored) {
      const result = isShort ? {} : { _version: 1, result: 'created' };
      return { [operation]: { ...named, ...result, status: CREATED } };
    }
    const error = failure ?? refusal;
    const isTold = failed++ < MAX_REASONS;
    return {
      [operation]: {
        ...named,
        status: failure === undefined ? status : REFUSED,
        error: isTold ? error : { type: error.type, reason: 'see the first items that failed' },
      },
    };
  });
  return json({ took: tookMs, errors: failed > 0, items: told });
}

/** What `GET /` of Elasticsearch answers: its name and version. */
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

/** Beats and Logstash ask for it and want an active one. */
export const showElasticLicense: Handler<HttpContext> = () =>
  elastic(async () => json({ license: { uid: 'logboom', type: 'basic', mode: 'basic', status: 'active' } }));

/** Health check of Vector. */
export const showElasticHealth: Handler<HttpContext> = () =>
  elastic(async () =>
    json({ cluster_name: 'logboom', status: 'green', timed_out: false, number_of_nodes: 1 }),
  );

/** Templates, pipelines and policies, which agents look for or make before they ship: nothing here needs them. */
export const acceptElasticSetup: Handler<HttpContext> = (_, { method }: RoutedRequest) =>
  elastic(async () => json(method === 'PUT' ? { acknowledged: true } : {}));

async function elastic(answer: () => Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await answer().catch(errorAnswer);
  return { ...response, headers: { ...response.headers, 'x-elastic-product': 'Elasticsearch' } };
}

/** Throws what is no error of a client, to be logged and answered as everywhere. */
function errorAnswer(error: unknown): HttpResponse {
  const isThrottled = error instanceof ThrottledError;
  if (!isThrottled && !(error instanceof ClientError)) throw error;
  const status = isThrottled ? 503 : error.status;
  const reason = isThrottled ? OVERLOADED : error.message;
  const cause = { type: ERROR_TYPES[status] ?? 'exception', reason };
  return json({ error: { root_cause: [cause], ...cause }, status }, status);
}
