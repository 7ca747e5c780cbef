/** The HTTP API, routed from the one route table: each method and path, with every name a client may know it by. */
import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type FunctionName, functionOf } from '../functions/groups.ts';
import { pathsOf } from '../shared/http/routes.ts';
import { ROUTES } from '../shared/http/table.ts';

/** Who may call: holders of the right execute-api:Invoke, or everybody. A tenant is a header, and proves nothing. */
export type Authorization = 'iam' | 'none';

export interface LogboomApiProps {
  readonly functions: Readonly<Record<FunctionName, LambdaFunction>>;
  readonly authorization: Authorization;
  readonly logRetention: RetentionDays;
}

/** Neither addresses nor query strings: they hold what people search for. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    time: '$context.requestTimeEpoch',
    requestId: '$context.requestId',
    route: '$context.routeKey',
    status: '$context.status',
    responseBytes: '$context.responseLength',
    ms: '$context.responseLatency',
    integrationMs: '$context.integrationLatency',
    error: '$context.error.message',
    integrationError: '$context.integrationErrorMessage',
  }),
);

export class LogboomApi extends Construct {
  readonly url: string;

  constructor(scope: Construct, id: string, { functions, authorization, logRetention }: LogboomApiProps) {
    super(scope, id);
    const api = new HttpApi(this, 'Api', {
      description: 'Logboom',
      createDefaultStage: false,
      ...(authorization === 'iam' ? { defaultAuthorizer: new HttpIamAuthorizer() } : {}),
    });
    for (const name of Object.keys(functions) as FunctionName[]) {
      const integration = new HttpLambdaIntegration(`${name}Integration`, functions[name], {
        // One permission for the API: one for each route would outgrow the policy of a function, 20 KB.
        scopePermissionToRoute: false,
      });
      for (const route of ROUTES) {
        if (functionOf(route) !== name) continue;
        const methods = route.methods.map(method => HttpMethod[method]);
        for (const path of pathsOf(route)) {
          // The gateway knows no route that ends with a slash.
          if (path.endsWith('/')) continue;
          const added = api.addRoutes({ path, methods, integration });
          if (authorization === 'none')
            for (const { node } of added) acceptEverybody(node.scope as Construct);
        }
      }
    }
    const log = new LogGroup(this, 'AccessLog', {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: ACCESS_LOG },
    });
    this.url = stage.url;
  }
}

function acceptEverybody(api: Construct): void {
  Validations.of(api).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason: 'Chosen with --context authorization=none: something in front of the API says who may call.',
  });
}
