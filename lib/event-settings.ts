/**
 * CDK context for the event functions. Without log groups and bucket there are none:
 *
 *     --context logGroups=/aws/lambda/shop,/ecs/web   the log groups of CloudWatch Logs to store
 *     --context logsBucket=NAME                       the bucket whose log files are stored as they appear
 *     --context eventTenant=acme                      tenant of the entries
 *     --context eventLabels=env=prod,team=shop        labels of every stream; optional
 */
import { labelsOfEnvironment } from '../functions/event-labels.ts';
import type { EventFunctionName } from '../functions/groups.ts';
import { checkTenantId } from '../shared/base/model/tenant-id.ts';
import type { Settings } from './settings.ts';

export interface EventSettings {
  readonly tenant: string;
  /** Labels as `name=value`, separated by commas, the format of LOGBOOM_LABELS. */
  readonly labels: string;
  /** Distinct names. */
  readonly logGroups: readonly string[];
  /** Bucket name; empty if there is none. */
  readonly bucketName: string;
}

const LOG_GROUP_NAME = /^[A-Za-z0-9._/#-]{1,512}$/;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Each needs a subscription and a permission. The policy of a function holds 20 KB, about 50 permissions. */
const MAX_LOG_GROUPS = 40;

/** Throws Error or ClientError if a setting is invalid, so that nothing is deployed. */
export function eventSettingsOf(
  given: Pick<Settings, 'logGroups' | 'logsBucket' | 'eventTenant' | 'eventLabels'>,
): EventSettings {
  const named = given.logGroups.split(',');
  const logGroups = [...new Set(named.map(name => name.trim()).filter(name => name !== ''))];
  for (const name of logGroups) {
    if (!LOG_GROUP_NAME.test(name)) throw new Error(`logGroups: "${name}" is not the name of a log group`);
  }
  if (logGroups.length > MAX_LOG_GROUPS) {
    throw new Error(`logGroups: ${logGroups.length} log groups, at most ${MAX_LOG_GROUPS} fit one function`);
  }
  const bucketName = given.logsBucket;
  if (bucketName !== '' && !BUCKET_NAME.test(bucketName)) {
    throw new Error(`logsBucket: "${bucketName}" is not the name of a bucket`);
  }
  const settings = {
    tenant: given.eventTenant,
    labels: given.eventLabels,
    logGroups,
    bucketName,
  };
  if (eventFunctionsOf(settings).length > 0) {
    if (settings.tenant === '')
      throw new Error('logGroups and logsBucket need eventTenant, the tenant of these logs');
    checkTenantId(settings.tenant);
    labelsOfEnvironment({ LOGBOOM_LABELS: settings.labels });
  }
  return settings;
}

/** Enabled functions. */
export function eventFunctionsOf(
  settings: Pick<EventSettings, 'logGroups' | 'bucketName'>,
): readonly EventFunctionName[] {
  return [
    ...(settings.logGroups.length > 0 ? (['cloudwatch-logs'] as const) : []),
    ...(settings.bucketName === '' ? [] : (['s3-objects'] as const)),
  ];
}
