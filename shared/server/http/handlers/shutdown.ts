/** Shutdown of the part that accepts pushes (docs/dev/wire-format.md#flush-and-shutdown). */

import { ClientError, messageOf } from '../../../base/model/errors.ts';
import { STOPPED } from '../../admin/shutdown.ts';
import type { HttpContext } from '../context.ts';
import { type Params, param, parseParams } from '../params.ts';
import { noContent, text } from '../respond.ts';
import type { Handler } from '../routes.ts';

export const showPrepared: Handler<HttpContext> = async ({ shutdown }) =>
  text((await shutdown.isPrepared()) ? 'set' : 'unset');

export const prepareShutdown: Handler<HttpContext> = async ({ shutdown }) => {
  await shutdown.prepare(true);
  return noContent();
};

export const unprepareShutdown: Handler<HttpContext> = async ({ shutdown }) => {
  await shutdown.prepare(false);
  return noContent();
};

export const shutDown: Handler<HttpContext> = async ({ shutdown }, request) => {
  const params = parseParams(request);
  const options = { flush: flagOf(params, 'flush', true), terminate: flagOf(params, 'terminate', true) };
  // Ignores `delete_ring_tokens`, because members have no tokens.
  try {
    if (await shutdown.begin(options)) return noContent();
  } catch (error) {
    return text(`${messageOf(error)}\n`, 500);
  }
  throw new ClientError(503, STOPPED);
};

/** Partitions belong to Kafka, which Logboom does not use. Same response as the reference without Kafka. */
export const refusePartitions: Handler<HttpContext> = async () => ({
  status: 405,
  headers: { allow: '' },
  body: '',
});

function flagOf(params: Params, name: string, initial: boolean): boolean {
  const written = param(params, name).toLowerCase();
  if (['t', 'true', '1'].includes(written)) return true;
  return ['f', 'false', '0'].includes(written) ? false : initial;
}
