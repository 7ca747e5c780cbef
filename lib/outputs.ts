/**
 * Stack outputs: URLs for pushes and queries, and configuration examples for common clients. Outputs contain
 * names that are known only at deployment. Examples work as printed: they read a token from the environment
 * variable LOGBOOM_TOKEN, so that no output contains one. Impossible examples are omitted: agents and Grafana
 * cannot sign requests.
 */
import { Aws, CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ApiFunction, SharedFunctionProps } from './api-function.ts';
import type { Settings } from './settings.ts';

interface OutputsProps {
  readonly settings: Pick<Settings, 'authorization' | 'domain' | 'tenant' | 'endpoint'>;
  /** URL for browsers and queries: CloudFront or the public load balancer, if there is one. */
  readonly baseUrl: string;
  /** URL for agents, without CloudFront, which charges per GB. */
  readonly pushUrl: string;
  /** Undefined if there are no tails. */
  readonly tailUrl: string | undefined;
  readonly shared: SharedFunctionProps;
  readonly firstToken: ApiFunction['lambda'] | undefined;
  readonly maintenance: ApiFunction['lambda'];
  /** Host name of CloudFront or of the load balancer, if `domain` sets another one. */
  readonly domainTarget: string | undefined;
}

export function addOutputs(scope: Construct, props: OutputsProps): void {
  const { settings, baseUrl, pushUrl, tailUrl, shared, firstToken, maintenance, domainTarget } = props;
  const { authorization, domain } = settings;
  const add = (id: string, description: string, value: string) =>
    new CfnOutput(scope, id, { description, value });
  add('BaseUrl', 'Address for browsers, Grafana, logcli and live tails', baseUrl);
  add(
    'PushUrl',
    'Address for agents and for signed requests, in this region and without CloudFront',
    pushUrl,
  );
  if (tailUrl !== undefined) add('TailUrl', 'WebSocket API of live tails itself', tailUrl);
  add('BucketName', 'Bucket of the chunks', shared.bucket.bucketName);
  add('TableName', 'Table of the catalog', shared.table.tableName);
  add(
    'MaintenanceFunction',
    'Function of the maintenance jobs, which you can also invoke',
    maintenance.functionName,
  );
  if (domainTarget !== undefined) add('DomainTarget', `CNAME of ${domain}`, domainTarget);
  if (firstToken !== undefined)
    add('FirstTokenCommand', 'Creates the first token and shows it once', firstTokenCommand(firstToken));
  if (authorization !== 'iam') {
    add(
      'GrafanaDataSource',
      'Grafana data source, for provisioning/datasources',
      grafanaYaml(baseUrl, settings),
    );
    add('AlloySnippet', 'Section for the configuration of Alloy', alloyConfig(pushUrl, settings));
  }
  add('CurlPush', 'Command that pushes a line', curlPush(pushUrl, settings));
  add(
    'CurlQuery',
    'Command that finds this line',
    curlQuery(authorization === 'iam' ? pushUrl : baseUrl, settings),
  );
}

type OutputSettings = OutputsProps['settings'];

function firstTokenCommand({ functionName }: ApiFunction['lambda']): string {
  return `aws lambda invoke --region ${Aws.REGION} --function-name ${functionName} first-token.json && cat first-token.json`;
}

/** Grafana expands environment variables in provisioning files. */
function grafanaYaml(url: string, { authorization, tenant }: OutputSettings): string {
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

function alloyConfig(url: string, { authorization, tenant }: OutputSettings): string {
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

function curlPush(url: string, settings: OutputSettings): string {
  const body = `{"streams":[{"stream":{"app":"hello"},"values":[["'$(date +%s)'000000000","hello from curl"]]}]}`;
  return [
    `curl --fail-with-body ${identityOf(settings)}`,
    `  -H 'content-type: application/json' -d '${body}'`,
    `  '${url}/loki/api/v1/push'`,
  ].join(' \\\n');
}

function curlQuery(url: string, settings: OutputSettings): string {
  return [
    `curl --fail-with-body ${identityOf(settings)}`,
    `  -G --data-urlencode 'query={app="hello"}' '${url}/loki/api/v1/query_range'`,
  ].join(' \\\n');
}

/** Flags of curl. It signs with the credentials of the environment and omits an empty session token. */
function identityOf({ authorization, tenant, endpoint }: OutputSettings): string {
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
