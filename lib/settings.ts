/**
 * Settings of a deployment as CDK context: `--context name=value`, or the context of cdk.json. This list is
 * the only one, and docs are tested against it. Everything is validated before bundling and deploying. Pure
 * data that loads without the CDK.
 *
 * Pitfall: the CDK keeps its own flags in the same context, so only plain names are settings. A misspelled
 * one ends the run, because `removl=destroy` must not be ignored.
 */
import { z } from 'zod';

/**
 * Authorization: clients with the right execute-api:Invoke, clients with a token, or every client. The tenant
 * header proves nothing.
 */
export type Authorization = 'iam' | 'token' | 'none';

/**
 * `retain`: bucket, table and their key outlive the stack. `destroy`: deleting the stack deletes all data.
 */
export type RemovalSetting = 'retain' | 'destroy';

/** Endpoint for clients: API Gateway, or the URL of one function (lib/function-url.ts). */
export type Endpoint = 'http-api' | 'function-url';

const PUBLIC_CONFIRMATION = 'yes-really';
/** Retention days of CloudWatch Logs, up to a reasonable maximum. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];
/** Calls that Lambda keeps for functions without a reservation. */
export const UNRESERVED_CALLS = 100;
/** Minimum quota; below, a reservation would leave too little: see lib/concurrency.ts. */
export const LEAST_QUOTA = 2 * UNRESERVED_CALLS;

const yesOrNo = (preset: 'yes' | 'no') =>
  z
    .enum(['yes', 'no', 'true', 'false'], { error: 'must be yes or no' })
    .default(preset)
    .transform(value => value === 'yes' || value === 'true');
const wanted = z.enum(['auto', 'yes', 'no'], { error: 'must be auto, yes or no' }).default('auto');
const text = z.string().default('');
const hostName = text.refine(
  value => value === '' || /^(?=.{1,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/.test(value),
  { error: 'must be a host name in lower case' },
);
/** EC2 IDs, separated by commas. */
const idsOf = (kind: 'subnet' | 'sg') =>
  text.refine(
    value =>
      value === '' || listOf(value).every(id => new RegExp(`^${kind}-([0-9a-f]{8}|[0-9a-f]{17})$`).test(id)),
    { error: `must be a list of ${kind}-..., separated by commas` },
  );
const arn = (service: string) =>
  text.refine(value => value === '' || new RegExp(`^arn:[a-z-]+:${service}:`).test(value), {
    error: `must be the ARN of ${service}, arn:aws:${service}:...`,
  });

const FIELDS = {
  stackName: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, {
      error: 'must be a letter and up to 63 letters, digits and hyphens',
    })
    .default('Logboom')
    .describe('Name of the stack; another name is another store'),
  authorization: z
    .enum(['iam', 'token', 'none'], { error: 'must be iam, token or none' })
    .default('token')
    .describe('Who may call: `token`, access tokens; `iam`, signed requests; `none`, all clients'),
  public: z
    .enum(['', PUBLIC_CONFIRMATION], { error: `must be ${PUBLIC_CONFIRMATION} or omitted` })
    .default('')
    .describe(`\`${PUBLIC_CONFIRMATION}\` goes with \`authorization=none\`, which is refused without it`),
  tenant: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,150}$/, { error: 'must be up to 150 letters, digits, - and _' })
    .default('main')
    .describe('Tenant that the printed snippets name'),
  endpoint: z
    .enum(['http-api', 'function-url'], { error: 'must be http-api or function-url' })
    .default('http-api')
    .describe(
      '`function-url` is one function with its own address instead of the APIs, for emulators; it has no tails',
    ),
  gatewayLogRole: z
    .enum(['create', 'existing'], { error: 'must be create or existing' })
    .default('create')
    .describe(
      'Role by which API Gateway writes logs, one for an account and region: `create` creates and sets it, `existing` keeps the current one',
    ),
  config: text.describe('File of the [configuration](configuration.md), at most 3 KiB, for all functions'),
  edge: yesOrNo('yes').describe(
    'CloudFront in front of both APIs: one address for requests, tails and the page',
  ),
  ui: yesOrNo('yes').describe('The explorer below `/ui/` of CloudFront or of the load balancer'),
  domain: hostName.describe(
    'Your host name for CloudFront, or with `write=service` and `edge=no` for a public [load balancer](#write-service); create a CNAME for it',
  ),
  certificateArn: arn('acm').describe(
    'Its certificate in ACM: in us-east-1 for CloudFront, in the region of the stack for a load balancer',
  ),
  webAclArn: arn('wafv2').describe('Web ACL for CloudFront (scope CLOUDFRONT, so in us-east-1)'),
  kmsKeyArn: arn('kms').describe('Your KMS key for bucket and table; default: AWS keys'),
  versioning: yesOrNo('no').describe('Keep deleted objects for `noncurrentDays`'),
  noncurrentDays: z.coerce
    .number()
    .int({ error: 'must be a whole number of days' })
    .min(1, { error: 'must be at least 1' })
    .max(365, { error: 'must be at most 365' })
    .default(7)
    .describe('Days to keep deleted objects'),
  removal: z
    .enum(['retain', 'destroy'], { error: 'must be retain or destroy' })
    .default('retain')
    .describe(
      'When the stack is deleted, `retain` keeps bucket and table, `destroy` empties and deletes them',
    ),
  deletionProtection: yesOrNo('no').describe(
    'Protect the table against deletion; not in the first deployment, because a failed one could not be rolled back',
  ),
  logRetentionDays: z.coerce
    .number()
    .refine(days => LOG_DAYS.includes(days), { error: `must be one of ${LOG_DAYS.join(', ')}` })
    .default(30)
    .describe('Days to keep the logs of functions and APIs'),
  write: z
    .enum(['functions', 'service'], { error: 'must be functions or service' })
    .default('functions')
    .describe(
      'What accepts pushes: `functions`, or `service`, [containers](#write-service) that store the pushes of many agents together',
    ),
  writeTasks: z.coerce
    .number()
    .int({ error: 'must be a whole number' })
    .min(1, { error: 'must be at least 1' })
    .max(100, { error: 'must be at most 100' })
    .default(2)
    .describe('Containers of the service without load; up to ten times as many with load'),
  concurrency: z.coerce
    .number()
    .int({ error: 'must be a whole number' })
    .refine(quota => quota === 0 || quota >= LEAST_QUOTA, { error: `must be 0 or at least ${LEAST_QUOTA}` })
    .default(0)
    .describe("The account's quota of concurrent calls, to reserve shares of it; 0 reserves nothing"),
  alarmTopicArn: arn('sns').describe('SNS topic for alarms'),
  alarmEmail: text
    .refine(value => value === '' || /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value), {
      error: 'must be an email address',
    })
    .describe('Email address for alarms, with a topic of the stack'),
  alarms: wanted.describe('CloudWatch alarms; `auto`: if a topic or an address is set'),
  dashboard: wanted.describe('CloudWatch dashboard; `auto` as above'),
  metrics: wanted.describe('Embedded metrics of requests and of the backlog; `auto` as above'),
  canary: wanted.describe(
    'A function that pushes entries every 5 minutes and reads them back; `auto` as above, if its token is set',
  ),
  canaryTenant: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,150}$/, { error: 'must be up to 150 letters, digits, - and _' })
    .default('canary')
    .describe('Tenant of the canary'),
  canarySecretArn: arn('secretsmanager').describe(
    'Secret with a token for the canary, needed with `authorization=token`',
  ),
  subnetIds: idsOf('subnet').describe(
    'VPC subnets for the functions, separated by commas; they need access to S3, DynamoDB and Lambda',
  ),
  securityGroupIds: idsOf('sg').describe('Security groups of these functions, separated by commas'),
  permissionsBoundaryArn: text
    .refine(value => value === '' || /^arn:[a-z-]+:iam::(\d{12}|aws):policy\//.test(value), {
      error: 'must be the ARN of a policy, arn:aws:iam::ACCOUNT:policy/NAME',
    })
    .describe('Permissions boundary for all roles of the stack'),
  tags: text
    .refine(
      value =>
        value === '' || value.split(',').every(tag => /^[\w .:/+@-]{1,128}=[\w .:/+@-]{0,256}$/.test(tag)),
      {
        error: 'must be name=value, separated by commas',
      },
    )
    .describe('Tags of all resources, `team=shop,env=prod`'),
  exportTo: text
    .refine(
      value =>
        value === '' ||
        /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._-]{1,60}){0,3}\/?$/.test(value),
      {
        error: 'must be s3://BUCKET/PREFIX, with up to three folders',
      },
    )
    .describe(
      'Destination of closed days as Parquet files, `s3://BUCKET/PREFIX` with a bucket of yours, and a Glue table over them',
    ),
  logGroups: text.describe('Log groups of CloudWatch Logs to store, separated by commas'),
  logsBucket: text.describe('Bucket whose new log files are stored'),
  eventTenant: text.describe('Tenant for both'),
  eventLabels: text.describe('Labels for both, `env=prod,team=shop`'),
} as const;

const SCHEMA = z.object(FIELDS);

export type Settings = Readonly<z.infer<typeof SCHEMA>>;

/** Name, default as written, and purpose of a setting, in Markdown. */
interface SettingRow {
  readonly name: string;
  readonly preset: string;
  readonly about: string;
}

/** All settings in the order of the docs. */
export function settingRows(): readonly SettingRow[] {
  const asked = z.toJSONSchema(SCHEMA, { io: 'input', unrepresentable: 'any' }).properties ?? {};
  return Object.entries(FIELDS).map(([name, { description = '' }]) => {
    const property = asked[name];
    const preset = typeof property === 'object' ? String(property.default ?? '') : '';
    return { name, preset, about: description };
  });
}

/** Settings of earlier versions, and what replaces them. */
const REPLACED: Readonly<Record<string, string>> = {
  writeDomain: 'set domain, with edge=no and write=service; that host name now serves everything',
  writeCertificateArn: 'set certificateArn, to the same certificate',
};

/** Reasons why the settings are refused, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Plain names are settings; names with other characters (`@aws-cdk/...`, `aws:cdk:...`,
 * `availability-zones:...`) belong to the CDK.
 */
const SETTING_NAME = /^[A-Za-z][A-Za-z0-9]*$/;

/** @param context the whole CDK context. Throws SettingsError, which lists every invalid setting. */
export function settingsOf(context: Readonly<Record<string, unknown>>): Settings {
  const given: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(context)) {
    if (!SETTING_NAME.test(name) || value === undefined || value === null) continue;
    if (Object.hasOwn(REPLACED, name)) problems.push(`${name} was replaced: ${REPLACED[name]}`);
    else if (!Object.hasOwn(FIELDS, name)) problems.push(`${name} is not a setting of this stack`);
    else if (typeof value === 'object')
      problems.push(`${name} must be a string, not ${JSON.stringify(value)}`);
    else given[name] = String(value).trim();
  }
  const { success, data, error } = SCHEMA.safeParse(given);
  for (const { path, message } of error?.issues ?? []) {
    const name = String(path[0]);
    problems.push(`${name} ${message}, not ${JSON.stringify(given[name])}`);
  }
  if (success) problems.push(...conflictsOf(data));
  if (problems.length > 0 || !success) throw new SettingsError(problems.join('\n'));
  return data;
}

/** Combinations that are invalid although each setting is valid. */
function conflictsOf(settings: Settings): string[] {
  const { authorization, edge, domain, certificateArn, webAclArn, kmsKeyArn } = settings;
  const { endpoint, subnetIds, securityGroupIds, canary, canarySecretArn } = settings;
  const problems: string[] = [];
  if (authorization === 'none' && settings.public === '') {
    problems.push(
      'authorization=none lets everyone on the internet push, read and delete logs of every tenant; ' +
        `to confirm, set --context public=${PUBLIC_CONFIRMATION}; otherwise use iam or token`,
    );
  }
  if (authorization !== 'none' && settings.public !== '') {
    problems.push(`public=${PUBLIC_CONFIRMATION} needs authorization=none, not ${authorization}`);
  }
  if ((domain === '') !== (certificateArn === ''))
    problems.push('domain and certificateArn need each other; set both or none');
  if (domain !== '' && !edge && settings.write === 'functions')
    problems.push('domain needs edge=yes, for CloudFront, or write=service, for its load balancer');
  if (webAclArn !== '' && !edge) problems.push('webAclArn needs edge=yes: it is a setting of CloudFront');
  for (const [name, value] of Object.entries({ certificateArn, webAclArn })) {
    if (value !== '' && edge && value.split(':')[3] !== 'us-east-1')
      problems.push(
        `${name} must be in us-east-1 for CloudFront, not in ${value.split(':')[3] || 'no region'}`,
      );
  }
  if (kmsKeyArn !== '' && !/:key\/[A-Za-z0-9-]+$/.test(kmsKeyArn))
    problems.push('kmsKeyArn must end with :key/ID; an alias is not accepted');
  if (settings.alarmTopicArn !== '' && settings.alarmEmail !== '')
    problems.push('alarmTopicArn and alarmEmail cannot be combined; subscribe the address to the topic');
  if ((subnetIds === '') !== (securityGroupIds === ''))
    problems.push('subnetIds and securityGroupIds need each other; set both or none');
  if (canary === 'yes' && authorization === 'token' && canarySecretArn === '')
    problems.push('canary=yes with authorization=token needs canarySecretArn, the secret with its token');
  problems.push(...writeConflicts(settings));
  if (settings.deletionProtection && settings.removal === 'destroy')
    problems.push('deletionProtection and removal=destroy cannot be combined');
  if (endpoint === 'function-url') {
    if (edge) problems.push('endpoint=function-url needs edge=no, because CloudFront is only for the APIs');
    if (canary === 'yes') problems.push('endpoint=function-url does not support the canary; set canary=no');
    if (settings.logGroups !== '' || settings.logsBucket !== '')
      problems.push('endpoint=function-url does not support logGroups and logsBucket');
    if (settings.exportTo !== '') problems.push('endpoint=function-url does not support exportTo; remove it');
  }
  return problems;
}

function writeConflicts(settings: Settings): string[] {
  const problems: string[] = [];
  if (settings.write === 'functions') return problems;
  if (settings.endpoint === 'function-url')
    problems.push('endpoint=function-url does not support write=service; remove it');
  if (hasPublicBalancer(settings) && settings.authorization === 'iam')
    problems.push(
      'domain with edge=no needs authorization=token or none, because a load balancer does not check signatures',
    );
  return problems;
}

/** True if the address of the store is that of a public load balancer in front of the write service. */
export function hasPublicBalancer({ write, edge, domain }: Settings): boolean {
  return write === 'service' && !edge && domain !== '';
}

/** True if alarms have a recipient. */
function isWatched({ alarmTopicArn, alarmEmail }: Settings): boolean {
  return alarmTopicArn !== '' || alarmEmail !== '';
}

/** True if the stack includes it. Alarms and metrics without a receiver would still cost money. */
export function isWanted(settings: Settings, name: 'alarms' | 'dashboard' | 'metrics'): boolean {
  return settings[name] === 'yes' || (settings[name] === 'auto' && isWatched(settings));
}

/** True if the stack has a canary; `auto` includes it only if it can call the API. */
export function hasCanary(settings: Settings): boolean {
  const { authorization, canary, canarySecretArn, endpoint } = settings;
  if (endpoint === 'function-url') return false;
  if (canary !== 'auto') return canary === 'yes';
  return isWatched(settings) && (authorization !== 'token' || canarySecretArn !== '');
}

/** Items of a comma-separated list. */
export function listOf(value: string): string[] {
  return value === '' ? [] : value.split(',').map(one => one.trim());
}
