/**
 * The store as the functions see it that AWS services call with events: one tenant, some labels, and a push.
 *
 *     LOGBOOM_TENANT   whose logs they are; with `auth_enabled: false` it may be left out
 *     LOGBOOM_LABELS   labels of every stream, `env=prod,team=shop`
 *
 * An event has nobody who reads an answer. What a repeat may cure throws, so that the service repeats the event; entries
 * that validation refuses are logged and dropped, or the event would come back for hours. A push over the tenant's rate
 * waits here first: a file is read far faster than it may be stored, and Lambda repeats an event only twice.
 */

import { openAwsStorage } from '../shared/aws/storage.ts';
import { ClientError } from '../shared/base/model/errors.ts';
import type { Label } from '../shared/base/model/labels.ts';
import { checkTenantId } from '../shared/base/model/tenant-id.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { systemClock, systemIds } from '../shared/base/runtime/system-clock.ts';
import { maxDecompressedBytes } from '../shared/server/admin/config.ts';
import type { Receiver } from '../shared/write/ingest/receiver.ts';
import { assembleStore, type Stores, settleInstance } from './assemble.ts';
import { labelsOfEnvironment } from './event-labels.ts';
import type { EventFunctionName } from './groups.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';

export interface EventStore {
  readonly labels: readonly Label[];
  readonly log: Log;
  /** The bucket of the chunks, of which no event may come. */
  readonly ownBucket: string;
  /** Entries that are stored. Throws what a repeat may cure, and ClientError where the body is no such body. */
  push(push: EventPush): Promise<number>;
}

export interface EventPush {
  readonly body: Uint8Array;
  readonly receiver: Receiver;
  /** Names the source, for the log and for telling pushes apart. */
  readonly source: string;
}

const NO_STREAMS = 422;
const TOO_MANY_REQUESTS = 429;
/** Between two tries of a push over a rate: a tenant's default rate fills two batches in it. */
const RATE_WAIT_MS = 1000;
/** Tries of one push; the function of CloudWatch Logs has a minute for its event. */
const MAX_TRIES = 20;

/** Throws ConfigError, ClientError or Error where the environment is wrong, which ends the start of the function. */
export function createEventStore(name: EventFunctionName, environment: Environment): EventStore {
  const settings = readSettings(environment);
  const storage = openAwsStorage({ ...settings, clock: systemClock, ids: systemIds });
  return assembleEventStore(name, settings, { ...storage, environment }, environment);
}

/** The same over given stores. */
export function assembleEventStore(
  name: EventFunctionName,
  settings: Pick<Settings, 'config' | 'warnings' | 'bucket' | 'tailFunction'>,
  stores: Stores,
  environment: Environment,
): EventStore {
  const { config } = settings;
  const tenant = tenantOf(environment, config.auth);
  const assembled = assembleStore(name, settings, stores);
  const { context, overrides, log, tailWaker } = assembled;
  // The whole object or envelope is there already: what bounds it is the memory of the function.
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
        // What was stored in part is for the repeat of the event: each try would store it once more.
        for (let tries = 1; isOverRate(error) && stored.length === 0 && tries < MAX_TRIES; tries++) {
          await systemClock.sleep(RATE_WAIT_MS);
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

function tenantOf(environment: Environment, auth: Settings['config']['auth']): string {
  if (!auth.authEnabled) return auth.noAuthTenant;
  const tenant = environment.LOGBOOM_TENANT;
  if (!tenant) throw new Error('the environment variable LOGBOOM_TENANT is not set');
  checkTenantId(tenant);
  return tenant;
}
