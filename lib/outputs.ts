/**
 * What a deployment tells: where clients push and ask, and how the usual ones are told of it. Values hold names that are known at
 * deployment alone, so the examples are outputs, too. They work as they are printed: a token is taken from the environment variable
 * LOGBOOM_TOKEN, so that none is in an output. What a client cannot do is not printed: agents and Grafana sign no requests.
 */
import { Aws, CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ApiFunction, StorePlace } from './api-function.ts';
import type { Settings } from './settings.ts';

export interface OutputsProps {
  readonly settings: Pick<Settings, 'authorization' | 'domain' | 'tenant' | 'endpoint'>;
  /** For browsers and questions: CloudFront, where there is one. */
  readonly baseUrl: string;
  /** For agents: without CloudFront, which asks for each GB that it passes on. */
  readonly pushUrl: string;
  /** Undefined: there are no tails. */
  readonly tailUrl: string | undefined;
  readonly place: StorePlace;
  readonly firstToken: ApiFunction['lambda'] | undefined;
  readonly maintenance: ApiFunction['lambda'];
  /** Of CloudFront, where it has a name of its own beside `domain`. */
  readonly domainTarget: string | undefined;
}

export function addOutputs(scope: Construct, props: OutputsProps): void {
  const { settings, baseUrl, pushUrl, tailUrl, place, firstToken, maintenance, domainTarget } = props;
  const { authorization, domain } = settings;
  const add = (id: string, description: string, value: string) =>
    new CfnOutput(scope, id, { description, value });
  add('BaseUrl', 'For browsers, Grafana, logcli and live tails: requests, tails and the page', baseUrl);
  add(
    'PushUrl',
    'For agents that push, and for signed requests: the API in this region, without CloudFront',
    pushUrl,
  );
  if (tailUrl !== undefined) add('TailUrl', 'The WebSocket API itself', tailUrl);
  add('BucketName', 'Holds the chunks', place.bucket.bucketName);
  add('TableName', 'Holds the catalog', place.table.tableName);
  add('MaintenanceFunction', 'Does the jobs; may be called by hand', maintenance.functionName);
  if (domainTarget !== undefined) add('DomainTarget', `CNAME of ${domain}`, domainTarget);
  if (firstToken !== undefined)
    add('FirstTokenCommand', 'Makes the first token and shows it, this once', firstTokenCommand(firstToken));
  if (authorization !== 'iam') {
    add('GrafanaDataSource', 'For provisioning/datasources of Grafana', grafanaYaml(baseUrl, settings));
    add('AlloySnippet', 'For the configuration of Alloy', alloyConfig(pushUrl, settings));
  }
  add('CurlPush', 'Pushes one line', curlPush(pushUrl, settings));
  add('CurlQuery', 'Finds it', curlQuery(authorization === 'iam' ? pushUrl : baseUrl, settings));
}

type Printed = OutputsProps['settings'];

function firstTokenCommand({ functionName }: ApiFunction['lambda']): string {
  return `aws lambda invoke --region ${Aws.REGION} --function-name ${functionName} first-token.json && cat first-token.json`;
}

/** Grafana puts environment variables into its provisioning files. */
function grafanaYaml(url: string, { authorization, tenant }: Printed): string {
  const lines = [
    'apiVersion: 1',
    'datasources:',
    '  - name: Logboom',
    '    type: loki',
    '    access: proxy',
    `    url: ${url}`,
  ];
  if (authorization === 'token') {
    lines.push(
      '    basicAuth: true',
      `    basicAuthUser: ${tenant}`,
      '    secureJsonData:',
      '      basicAuthPassword: $LOGBOOM_TOKEN',
    );
  } else {
    lines.push('    jsonData:', '      httpHeaderName1: X-Scope-OrgID');
    lines.push('    secureJsonData:', `      httpHeaderValue1: ${tenant}`);
  }
  return lines.join('\n');
}

function alloyConfig(url: string, { authorization, tenant }: Printed): string {
  const identity =
    authorization === 'token'
      ? [
          '    basic_auth {',
          `      username = "${tenant}"`,
          '      password = sys.env("LOGBOOM_TOKEN")',
          '    }',
        ]
      : [`    tenant_id = "${tenant}"`];
  return [
    'loki.write "logboom" {',
    '  endpoint {',
    `    url = "${url}/loki/api/v1/push"`,
    '    batch_size = "1MiB"',
    '    batch_wait = "5s"',
    ...identity,
    '  }',
    '}',
  ].join('\n');
}

function curlPush(url: string, settings: Printed): string {
  const body = `{"streams":[{"stream":{"app":"hello"},"values":[["'$(date +%s)'000000000","hello from curl"]]}]}`;
  return [
    `curl --fail-with-body ${identityOf(settings)}`,
    `  -H 'content-type: application/json' -d '${body}'`,
    `  '${url}/loki/api/v1/push'`,
  ].join(' \\\n');
}

function curlQuery(url: string, settings: Printed): string {
  return [
    `curl --fail-with-body ${identityOf(settings)}`,
    `  -G --data-urlencode 'query={app="hello"}' '${url}/loki/api/v1/query_range'`,
  ].join(' \\\n');
}

/** Flags of curl. It signs with the credentials of the environment; an empty session token is not sent. */
function identityOf({ authorization, tenant, endpoint }: Printed): string {
  if (authorization === 'token') return `-u "${tenant}:$LOGBOOM_TOKEN"`;
  const named = `-H 'X-Scope-OrgID: ${tenant}'`;
  if (authorization === 'none') return named;
  const service = endpoint === 'function-url' ? 'lambda' : 'execute-api';
  return [
    named,
    `  --aws-sigv4 'aws:amz:${Aws.REGION}:${service}' --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"`,
    `  -H "x-amz-security-token: $AWS_SESSION_TOKEN"`,
  ].join(' \\\n');
}
