/**
 * Calls services of the emulator for which the project has no client of the SDK, as far as a test needs them.
 * The emulator distinguishes services by the scope of a signature, and does not verify it.
 */

const REGION = 'us-east-1';

interface ApiRequest {
  /** Name of the service in signatures. */
  readonly service: string;
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  /** Parameters of an action, for services that speak forms and XML. */
  readonly form?: Readonly<Record<string, string>>;
  /** Operation and body, for services that speak JSON. */
  readonly target?: string;
  readonly body?: object;
}

/** Resolves to the body of the response in any format. Rejects if the status is not 200. */
export async function askEmulator(emulator: string, request: ApiRequest): Promise<string> {
  const { service, path = '/', form, target, body = {} } = request;
  const { method = form === undefined && target === undefined ? 'GET' : 'POST' } = request;
  const scope = `test/20260101/${REGION}/${service}/aws4_request`;
  const headers: Record<string, string> = {
    authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
  };
  if (form !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
  if (target !== undefined) {
    headers['content-type'] = 'application/x-amz-json-1.1';
    headers['x-amz-target'] = target;
  }
  const content = form === undefined ? JSON.stringify(body) : new URLSearchParams(form).toString();
  const answer = await fetch(emulator + path, {
    method,
    headers,
    ...(method === 'POST' ? { body: content } : {}),
  });
  const text = await answer.text();
  if (answer.status !== 200)
    throw new Error(`${service} ${path} ${JSON.stringify(form ?? target)}: ${answer.status} ${text}`);
  return text;
}

export interface StackResource {
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
}

export async function resourcesOf(emulator: string, stackName: string): Promise<StackResource[]> {
  const form = { Action: 'DescribeStackResources', StackName: stackName, Version: '2010-05-15' };
  const xml = await askEmulator(emulator, { service: 'cloudformation', form });
  return [...xml.matchAll(/<member><LogicalResourceId>.*?<\/member>/gs)].map(([member]) => ({
    logicalId: textOf(member, 'LogicalResourceId'),
    physicalId: textOf(member, 'PhysicalResourceId'),
    type: textOf(member, 'ResourceType'),
  }));
}

function textOf(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)`).exec(xml)?.[1] ?? '';
}

/** Number of starts of a function, by the lines in its log group. */
export async function startsOf(emulator: string, logGroupName: string): Promise<number> {
  const target = 'Logs_20140328.FilterLogEvents';
  const text = await askEmulator(emulator, { service: 'logs', target, body: { logGroupName } });
  const { events } = JSON.parse(text) as { events: { message: string }[] };
  return events.filter(({ message }) => message.startsWith('START ')).length;
}

interface ScheduleTarget {
  readonly arn: string;
  readonly input: string;
}

/** Target of the schedule with this physical ID, and its input. */
export async function targetOf(emulator: string, name: string): Promise<ScheduleTarget> {
  const text = await askEmulator(emulator, { service: 'scheduler', path: `/schedules/${name}` });
  const { Target } = JSON.parse(text) as { Target: { Arn: string; Input: string } };
  return { arn: Target.Arn, input: Target.Input };
}

/** Lists of all that the stack has kinds of, by service. */
const LISTS: readonly ApiRequest[] = [
  { service: 's3' },
  { service: 'lambda', path: '/2015-03-31/functions/' },
  { service: 'dynamodb', target: 'DynamoDB_20120810.ListTables' },
  { service: 'apigateway', path: '/v2/apis' },
  { service: 'scheduler', path: '/schedules' },
  { service: 'logs', target: 'Logs_20140328.DescribeLogGroups' },
  { service: 'sqs', form: { Action: 'ListQueues', Version: '2012-11-05' } },
  { service: 'iam', form: { Action: 'ListRoles', Version: '2010-05-08', MaxItems: '1000' } },
  { service: 'monitoring', form: { Action: 'DescribeAlarms', Version: '2010-08-01' } },
  { service: 'monitoring', form: { Action: 'ListDashboards', Version: '2010-08-01' } },
  { service: 'cloudfront', path: '/2020-05-31/distribution' },
  { service: 'cloudfront', path: '/2020-05-31/function' },
  { service: 'cloudfront', path: '/2020-05-31/origin-access-control' },
  { service: 'cloudfront', path: '/2020-05-31/response-headers-policy' },
];

/** Each list → which of these words occur in it. */
export async function findInLists(
  emulator: string,
  words: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const list of LISTS) {
    const text = (await askEmulator(emulator, list)).toLowerCase();
    const name = `${list.service} ${list.path ?? list.target ?? list.form?.Action ?? ''}`.trim();
    found.set(
      name,
      words.filter(word => text.includes(word.toLowerCase())),
    );
  }
  return found;
}
