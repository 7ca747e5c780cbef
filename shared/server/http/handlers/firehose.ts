/**
 * POST /aws/firehose: HTTP endpoint delivery of Amazon Data Firehose.
 *
 * Firehose repeats every request without status 200 for hours. So entries that validation refuses are not an
 * error: the others are stored, and a repetition would change nothing.
 */

import { BadRequestError, ClientError } from '../../../base/model/errors.ts';
import type { Label } from '../../../base/model/labels.ts';
import { ThrottledError } from '../../../base/ports/throttled.ts';
import { sanitizeMetadataName } from '../../../write/ingest/metadata-name.ts';
import { DEFAULT_FIELDS } from '../../../write/ingest/receivers/field-options.ts';
import { firehoseReceiver } from '../../../write/ingest/receivers/firehose-receiver.ts';
import type { HttpContext } from '../context.ts';
import { OVERLOADED } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../message.ts';
import { pushBody } from '../push-body.ts';
import type { Handler } from '../routes.ts';
import { resolveTenants, singleTenant } from '../tenant.ts';
import { MAX_ATTRIBUTES, MAX_ATTRIBUTES_BYTES } from './firehose-limits.ts';

const REQUEST_ID = 'x-amz-firehose-request-id';
const ATTRIBUTES = 'x-amz-firehose-common-attributes';
/** Attributes that may name the tenant. */
const TENANT_ATTRIBUTES = ['x_scope_orgid', 'tenant'];
/** Firehose accepts a message of at most 8,192 characters. */
const MAX_MESSAGE_CHARACTERS = 4096;
const MAX_REQUEST_ID_LENGTH = 128;
const NO_STREAMS = 422;

export const pushFirehose: Handler<HttpContext> = async (context, request) => {
  const { clock } = context;
  const { headers } = request;
  const requestId = (headers[REQUEST_ID] ?? '').slice(0, MAX_REQUEST_ID_LENGTH);
  const answer = (status: number, errorMessage?: string): HttpResponse => ({
    status,
    // Exact media type: with parameters, Firehose does not accept the response.
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requestId, timestamp: clock.nowMs(), errorMessage }),
  });
  try {
    const attributes = commonAttributes(headers);
    const tenant = singleTenant({ tenants: tenantsNamed(request, attributes, context) });
    const labels = labelsOfAttributes(attributes);
    const { error } = await pushBody(context, request, {
      tenant,
      receiver: firehoseReceiver({ fields: DEFAULT_FIELDS, labels }),
      parameters: JSON.stringify(labels),
    });
    if (error !== undefined && isWorthARepeat(error)) throw error;
    return answer(200);
  } catch (error) {
    // CloudWatch Logs sends messages without events to test the endpoint.
    if (error instanceof ClientError && error.status === NO_STREAMS) return answer(200);
    if (error instanceof ThrottledError) return answer(503, OVERLOADED);
    if (!(error instanceof ClientError)) throw error;
    return answer(error.status, error.message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed());
  }
};

/** True for rate limits and overload, which are temporary, and not for invalid entries. */
function isWorthARepeat({ status }: ClientError): boolean {
  return status === 429 || status >= 500;
}

/** Attributes `{"commonAttributes": {name: value}}` of a header. Throws BadRequestError. */
function commonAttributes(headers: HttpRequest['headers']): ReadonlyMap<string, string> {
  const header = headers[ATTRIBUTES] ?? '';
  if (header === '') return new Map();
  const wrong = new BadRequestError(`the header ${ATTRIBUTES} is not a JSON object of strings`);
  if (header.length > MAX_ATTRIBUTES_BYTES) throw wrong;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(header, 'latin1').toString());
  } catch {
    throw wrong;
  }
  const attributes = (value as { commonAttributes?: unknown } | null)?.commonAttributes ?? {};
  if (typeof attributes !== 'object' || Array.isArray(attributes)) throw wrong;
  const pairs = Object.entries(attributes as object);
  if (pairs.length > MAX_ATTRIBUTES || pairs.some(([, text]) => typeof text !== 'string')) throw wrong;
  return new Map(pairs as [string, string][]);
}

/**
 * Firehose cannot send custom headers, so an attribute may name the tenant: if the configuration allows it
 * and no header names one. It is off by default, because it bypasses a proxy that blocks requests without a
 * tenant.
 */
function tenantsNamed(
  { tenants }: HttpRequest,
  attributes: ReadonlyMap<string, string>,
  { config }: Pick<HttpContext, 'config'>,
): HttpRequest['tenants'] {
  const mayName = config.logboom.firehoseTenantAttribute && tenants?.kind === 'refused' && tenants.isUnnamed;
  const name = mayName && TENANT_ATTRIBUTES.find(attribute => attributes.has(attribute));
  return name ? resolveTenants(attributes.get(name), config) : tenants;
}

function labelsOfAttributes(attributes: ReadonlyMap<string, string>): readonly Label[] {
  return [...attributes]
    .filter(([name, value]) => !TENANT_ATTRIBUTES.includes(name) && value !== '')
    .map(([name, value]) => ({ name: sanitizeMetadataName(name), value: value.toWellFormed() }));
}
