/**
 * Live tails: a WebSocket API, a function for each of its routes, and the dispatcher, which pushes call where tails exist and a
 * schedule calls every minute.
 *
 * A reader would get wrong: a WebSocket API has no paths. Its stage is the endpoint of all tails; who wants the paths of the
 * HTTP API puts a domain in front of both and rewrites (docs/tail.md).
 */
import { Aws, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { LogGroupLogDestination, WebSocketApi, WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import type { TailFunctionName } from '../functions/groups.ts';
import { ApiFunction } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import type { Authorization } from './http-api.ts';

export interface TailApiProps {
  /** Folder of the bundle of each function. */
  readonly code: Readonly<Record<TailFunctionName, string>>;
  readonly bucket: Bucket;
  readonly table: Table;
  readonly environment: Readonly<Record<string, string>>;
  readonly authorization: Authorization;
  readonly logRetention: RetentionDays;
}

const STAGE = 'live';
/** The gateway waits 29 s for an answer; a client would not. */
const ROUTE_TIMEOUT = Duration.seconds(10);

export const TAIL_CLASSES: Readonly<Record<TailFunctionName, FunctionClass>> = {
  'tail-connect': {
    description: 'Opens live tails',
    memoryMb: 512,
    timeout: ROUTE_TIMEOUT,
    // Limits of tenants may lie in the store.
    objectActions: ['s3:GetObject'],
    tableActions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:DeleteItem'],
  },
  'tail-disconnect': {
    description: 'Ends live tails',
    memoryMb: 256,
    timeout: ROUTE_TIMEOUT,
    objectActions: ['s3:GetObject'],
    tableActions: ['dynamodb:GetItem', 'dynamodb:DeleteItem'],
  },
  'tail-default': {
    description: 'Ignores what clients of live tails send',
    memoryMb: 128,
    timeout: ROUTE_TIMEOUT,
    objectActions: [],
    tableActions: [],
  },
  'tail-dispatch': {
    description: 'Serves live tails',
    // One whole processor: it runs the queries of all tails of a tenant.
    memoryMb: 1769,
    // Lambda's most: a run goes on as long as something comes.
    timeout: Duration.minutes(15),
    objectActions: ['s3:GetObject'],
    tableActions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:DeleteItem'],
  },
};

/** Neither addresses nor query strings: they hold what people search for. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    time: '$context.requestTimeEpoch',
    requestId: '$context.requestId',
    route: '$context.routeKey',
    event: '$context.eventType',
    status: '$context.status',
    error: '$context.error.message',
  }),
);

export class TailApi extends Construct {
  /** Of the stage: where clients connect. */
  readonly url: string;
  private readonly dispatch: LambdaFunction;

  constructor(scope: Construct, id: string, props: TailApiProps) {
    super(scope, id);
    const api = new WebSocketApi(this, 'Api', { description: 'Logboom: live tails' });
    const log = new LogGroup(this, 'AccessLog', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new WebSocketStage(this, 'Stage', {
      webSocketApi: api,
      stageName: STAGE,
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: ACCESS_LOG },
    });
    this.url = stage.url;
    const place = { LOGBOOM_CONNECTIONS_ENDPOINT: stage.callbackUrl };
    this.dispatch = this.addFunction('tail-dispatch', props, place);
    const connect = this.addFunction('tail-connect', props, {
      ...place,
      LOGBOOM_TAIL_FUNCTION: this.dispatch.functionName,
    });
    const disconnect = this.addFunction('tail-disconnect', props, place);
    const ignore = this.addFunction('tail-default', props, {});
    this.allowCalls(connect);
    for (const lambda of [this.dispatch, connect]) {
      lambda.addToRolePolicy(
        new PolicyStatement({
          actions: ['execute-api:ManageConnections'],
          resources: [
            `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${api.apiId}/${STAGE}/*/@connections/*`,
          ],
        }),
      );
      acceptAllConnections(lambda, api);
    }
    const { authorization } = props;
    const routes = [
      ['$connect', connect, authorization === 'iam' ? new WebSocketIamAuthorizer() : undefined],
      ['$disconnect', disconnect, undefined],
      ['$default', ignore, undefined],
    ] as const;
    for (const [key, lambda, authorizer] of routes) {
      const integration = new WebSocketLambdaIntegration(`${key.slice(1)}Integration`, lambda);
      const route = api.addRoute(key, { integration, ...(authorizer === undefined ? {} : { authorizer }) });
      if (authorizer === undefined) acceptWithoutAuthorizer(route, key);
    }
    this.addSchedule();
  }

  /** A function that commits: it calls the dispatcher where tails exist. */
  calledBy(lambda: LambdaFunction): void {
    lambda.addEnvironment('LOGBOOM_TAIL_FUNCTION', this.dispatch.functionName);
    this.allowCalls(lambda);
  }

  private allowCalls(lambda: LambdaFunction): void {
    lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.dispatch.functionArn] }),
    );
  }

  private addFunction(
    name: TailFunctionName,
    { code, bucket, table, environment, logRetention }: TailApiProps,
    more: Readonly<Record<string, string>>,
  ): LambdaFunction {
    return new ApiFunction(this, name, {
      functionClass: TAIL_CLASSES[name],
      code: code[name],
      bucket,
      table,
      environment: { ...environment, ...more },
      logRetention,
    }).lambda;
  }

  /** What no call came for is found by it, and tails live on by it. */
  private addSchedule(): void {
    // A call that fails is not repeated: the next one comes by itself, and would find the same.
    this.dispatch.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    const role = new Role(this, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    });
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.dispatch.functionArn] }),
    );
    new CfnSchedule(this, 'Schedule', {
      description: 'Logboom: serves live tails that no push called for',
      scheduleExpression: 'rate(1 minute)',
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: this.dispatch.functionArn,
        roleArn: role.roleArn,
        input: '{}',
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      },
    }).node.addDependency(role);
  }
}

function acceptAllConnections(lambda: LambdaFunction, api: WebSocketApi): void {
  const logicalId = api.stack.getLogicalId(api.node.defaultChild as never);
  const place = `execute-api:<AWS::Region>:<AWS::AccountId>:<${logicalId}>/${STAGE}/*/@connections/*`;
  Validations.of(lambda.role as Role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:${place}]`,
    reason: 'Connections have no names before clients open them: the function may post to all of this API.',
  });
}

function acceptWithoutAuthorizer(route: Construct, key: string): void {
  Validations.of(route).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason:
      key === '$connect'
        ? 'Chosen with --context authorization=none: something in front of the API says who may call.'
        : 'The gateway asks for authorization where a connection is opened, and nowhere else.',
  });
}
