/**
 * Assembles the functions of live tails. Apart from the variables in settings.ts they need
 * LOGBOOM_CONNECTIONS_ENDPOINT, the address of the stage of the WebSocket API.
 */

import {
  apiGatewayConnections,
  CONNECTIONS_LIMITS,
  createConnectionsClient,
} from '../shared/aws/api-gateway-connections.ts';
import { createCaller } from '../shared/aws/caller.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { lazily } from '../shared/base/model/lazily.ts';
import type { Connections } from '../shared/base/ports/connections.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import {
  API_GATEWAY_FRAMES,
  API_GATEWAY_OWNER,
  assembleTails,
  type Tails,
} from '../shared/server/http/assemble-tail.ts';
import { MARKER_KNOWN_MS } from '../shared/storage/catalog/tail-log.ts';
import { type AssembledStore, assembleStore, type Stores } from './assemble.ts';
import type { TailFunctionName } from './groups.ts';
import { type FunctionSettings, readSettings } from './settings.ts';

/** Adds 25 % to the known delay, because the clocks of functions differ slightly. */
const JOIN_MS = MARKER_KNOWN_MS * 1.25;
/** Shorter than the API Gateway idle timeout of 10 minutes. */
export const KEEP_ALIVE_MS = 300_000;
/**
 * Shorter than the API Gateway limit of 2 hours, so that Logboom closes the connection first, with a reason.
 */
const MAX_CONNECTION_MS = 7_000_000;

export interface TailFunction extends Tails {
  readonly assembled: AssembledStore;
}

/**
 * Uses the stores and connections named by the environment. Throws if the environment is invalid, which ends
 * the start.
 */
export function createTailFunction(name: TailFunctionName, environment: Environment): TailFunction {
  const settings = readSettings(environment);
  const endpoint = environment.LOGBOOM_CONNECTIONS_ENDPOINT;
  if (!endpoint) throw new Error('the environment variable LOGBOOM_CONNECTIONS_ENDPOINT is not set');
  const storage = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const stores = { ...storage, environment };
  const connections = apiGatewayConnections({
    client: lazily(() => createConnectionsClient({ endpoint })),
    call: createCaller({ clock: SYSTEM_CLOCK, limits: CONNECTIONS_LIMITS }),
  });
  return assembleTailFunction(name, settings, stores, connections);
}

/** Same as createTailFunction, with given stores and connections. */
export function assembleTailFunction(
  name: TailFunctionName,
  settings: Pick<FunctionSettings, 'config' | 'warnings' | 'tailFunction' | 'trustsAuthorizer'>,
  stores: Stores,
  connections: Connections,
): TailFunction {
  const assembled = assembleStore(name, settings, stores);
  const tails = assembleTails(assembled.context, {
    connections,
    owner: API_GATEWAY_OWNER,
    frames: API_GATEWAY_FRAMES,
    log: assembled.log,
    joinMs: JOIN_MS,
    savesCursor: true,
    keepAliveMs: KEEP_ALIVE_MS,
    maxDurationMs: MAX_CONNECTION_MS,
  });
  return { ...tails, assembled };
}
