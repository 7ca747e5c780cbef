/**
 * Store for functions that AWS services call with events: one tenant, a set of labels, and a push.
 *
 *     LOGBOOM_TENANT   tenant of the logs; optional with `auth_enabled: false`
 *     LOGBOOM_LABELS   labels of every stream, `env=prod,team=shop`
 *
 * No client reads the response to an event. A temporary error throws, so that the service retries the event.
 * Entries that validation refuses are logged and dropped, or the service would retry the event for hours. A
 * push over the tenant's rate limit waits and retries first. Reading a file is much faster than the limit,
 * and Lambda retries an event only twice.
 */

import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { ClientError } from '../shared/base/model/errors.ts';
import type { Label } from '../shared/base/model/labels.ts';
import { checkTenantId } from '../shared/base/model/tenant-id.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { maxDecompressedBytes } from '../shared/server/admin/config.ts';
import type { Receiver } from '../shared/write/ingest/receiver.ts';
import { assembleStore, type Stores, settleInstance } from './assemble.ts';
import { labelsOfEnvironment } from './event-labels.ts';
import type { EventFunctionName } from './groups.ts';
import { type FunctionSettings, readSettings } from './settings.ts';

export interface EventStore {
  readonly labels: readonly Label[];
  readonly log: Log;
  /** Bucket of the chunks. Events of this bucket are refused. */
  readonly ownBucket: string;
  /**
   * Returns the number of stored entries. Throws temporary errors, and ClientError if the body is invalid.
   */
  push(push: EventPush): Promise<number>;
}

export interface EventPush {
  readonly body: Uint8Array;
  readonly receiver: Receiver;
  /** Name of the source, for the log and to distinguish pushes. */
  readonly source: string;
}

const NO_STREAMS = 422;
const TOO_MANY_REQUESTS = 429;
/**
 * Wait between two attempts of a push over the rate limit. A tenant's default rate limit allows two batches
 * in this time.
 */
const RATE_WAIT_MS = 1000;
/** Attempts per push. The function of CloudWatch Logs has one minute for its event. */
const MAX_TRIES = 20;

/**
 * Throws ConfigError, ClientError or Error if the environment is invalid, which ends the start of the
 * function.
 */
export function createEventStore(name: EventFunctionName, environment: Environment): EventStore {
  const settings = readSettings(environment);
  const storage = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  return assembleEventStore(name, settings, { ...storage, environment }, environment);
}

/** Same as createEventStore, with given stores. */
export function assembleEventStore(
  name: EventFunctionName,
  settings: Pick<FunctionSettings, 'config' | 'warnings' | 'bucket' | 'tailFunction'>,
  stores: Stores,
  environment: Environment,
): EventStore {
  const { config } = settings;
  const tenant = tenantOf(environment, config.auth);
  const assembled = assembleStore(name, settings, stores);
  const { context, overrides, log, tailWaker } = assembled;
  // The whole object or envelope is in memory already, so the memory of the function is the limit.
  const maxBytes = maxDecompressedBytes(config);
  const bodyLimits = { maxBodyBytes: maxBytes, maxDecompressedBytes: maxBytes };
  return {
    labels: labelsOfEnvironment(environment),
    log,
    ownBucket: settings.bucket,
    async push({ body, receiver, source }) {
      await overrides.refreshIfDue();
      const request = {
        tenant,
        body,
        contentType: undefined,
        contentEncoding: undefined,
        receiver,
        parameters: source,
      };
      try {
        const push = () =>
          assembled.instance.counted(name, () =>
            context.push.push(request, context.limitsOf(tenant), bodyLimits),
          );
        let { stored, error } = await push();
        // After a partial push, only the retry of the event continues. Each attempt here would store the
        // stored entries again.
        for (let tries = 1; isOverRate(error) && stored.length === 0 && tries < MAX_TRIES; tries++) {
          await SYSTEM_CLOCK.sleep(RATE_WAIT_MS);
          ({ stored, error } = await push());
        }
        if (error !== undefined && (isOverRate(error) || error.status >= 500)) throw error;
        if (error !== undefined)
          log.warn({ source, stored: stored.length, reason: error.message }, 'entries dropped');
        return stored.length;
      } catch (error) {
        if (error instanceof ClientError && error.status === NO_STREAMS) return 0;
        throw error;
      } finally {
        await settleInstance(assembled);
        await tailWaker?.settled();
      }
    },
  };
}

function isOverRate(error: ClientError | undefined): boolean {
  return error?.status === TOO_MANY_REQUESTS;
}

function tenantOf(environment: Environment, auth: FunctionSettings['config']['auth']): string {
  if (!auth.authEnabled) return auth.noAuthTenant;
  const tenant = environment.LOGBOOM_TENANT;
  if (!tenant) throw new Error('the environment variable LOGBOOM_TENANT is not set');
  checkTenantId(tenant);
  return tenant;
}
