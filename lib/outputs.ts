/**
 * What a deployment tells: where clients push and ask, and how the usual ones are told of it. Values hold names that are known at
 * deployment alone, so the examples are outputs, too: they can be copied as they are, but for the token.
 */
import { CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { StorePlace } from './api-function.ts';
import type { Edge } from './edge.ts';
import type { LogboomApi } from './http-api.ts';
import type { Settings } from './settings.ts';
import type { TailApi } from './tail-api.ts';

export interface OutputsProps {
  readonly settings: Pick<Settings, 'authorization' | 'domain'>;
  readonly http: LogboomApi;
  readonly tail: TailApi;
  readonly edge: Edge | undefined;
  readonly place: StorePlace;
}

export function addOutputs(scope: Construct, { settings, http, tail, edge, place }: OutputsProps): void {
  const base = edge?.url ?? `https://${http.host}`;
  const add = (id: string, description: string, value: string) =>
    new CfnOutput(scope, id, { description, value });
  add('BaseUrl', 'Where clients push, ask and tail', base);
  add('Url', 'The HTTP API itself; signatures name its host', http.url);
  add('TailUrl', 'The WebSocket API itself', tail.url);
  add('BucketName', 'Holds the chunks', place.bucket.bucketName);
  add('TableName', 'Holds the catalog', place.table.tableName);
  if (edge !== undefined && settings.domain !== '')
    add('DomainTarget', `CNAME of ${settings.domain}`, edge.distribution.distributionDomainName);
  add('GrafanaDataSource', 'For provisioning/datasources of Grafana', grafanaYaml(base, settings));
  add('AlloySnippet', 'For the configuration of Alloy', alloyConfig(base, settings));
}

const withToken = ({ authorization }: OutputsProps['settings']) => authorization === 'token';

function grafanaYaml(base: string, settings: OutputsProps['settings']): string {
  const lines = [
    'apiVersion: 1',
    'datasources:',
    '  - name: Logboom',
    '    type: loki',
    '    access: proxy',
    `    url: ${base}`,
  ];
  if (withToken(settings)) {
    lines.push(
      '    basicAuth: true',
      '    basicAuthUser: TENANT',
      '    secureJsonData:',
      '      basicAuthPassword: TOKEN',
    );
  } else {
    lines.push('    jsonData:', '      httpHeaderName1: X-Scope-OrgID');
    lines.push('    secureJsonData:', '      httpHeaderValue1: TENANT');
  }
  return lines.join('\n');
}

function alloyConfig(base: string, settings: OutputsProps['settings']): string {
  const identity = withToken(settings)
    ? ['    basic_auth {', '      username = "TENANT"', '      password = "TOKEN"', '    }']
    : ['    tenant_id = "TENANT"'];
  return [
    'loki.write "logboom" {',
    '  endpoint {',
    `    url = "${base}/loki/api/v1/push"`,
    '    batch_size = "1MiB"',
    '    batch_wait = "5s"',
    ...identity,
    '  }',
    '}',
  ].join('\n');
}
