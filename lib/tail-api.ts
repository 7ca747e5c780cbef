/**
 * Live tails: a WebSocket API, a function for each of its routes, and the dispatcher, which pushes call where tails exist and the
 * timer calls every minute as long as they do (due-work.ts).
 *
 * A reader would get wrong: a WebSocket API has no paths. Its stage is the endpoint of all tails; the paths of the HTTP API are
 * those of CloudFront in front of both (edge.ts).
 */
import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type IWebSocketRouteAuthorizer,
  LogGroupLogDestination,
  WebSocketApi,
  WebSocketStage,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { TailFunctionName } from '../functions/groups.ts';
import { ApiFunction, type StorePlace } from './api-function.ts';
import { hostOfApi } from './edge.ts';
import type { FunctionClass } from './function-classes.ts';
import { accessLog } from './gateway-logs.ts';
import { TAIL_CONNECT_RIGHTS, TAIL_DISCONNECT_RIGHTS, TAIL_DISPATCH_RIGHTS } from './rights.ts';
import type { FailedCalls } from './schedules.ts';

export interface TailApiProps {
  /** Folder of the bundle of each function. */
  readonly code: Readonly<Record<TailFunctionName, string>>;
  readonly place: StorePlace;
  /** Of who connects; undefined: everybody may. */
  readonly authorizer: IWebSocketRouteAuthorizer | undefined;
  readonly failed: FailedCalls;
  /** What must be there before the API may log; undefined: the account has it. */
  readonly logRole: IDependable | undefined;
}

/** The one path that the API has. */
export const STAGE = 'live';
/** The gateway waits 29 s for an answer; a client would not. */
const ROUTE_TIMEOUT = Duration.seconds(10);
/** The next call does what this one was for. */
const MAX_CALL_AGE = Duration.minutes(1);

export const TAIL_CLASSES: Readonly<Record<TailFunctionName, FunctionClass>> = {
  'tail-connect': {
    description: 'Opens live tails',
    memoryMb: 1024,
    timeout: ROUTE_TIMEOUT,
    rights: TAIL_CONNECT_RIGHTS,
  },
  'tail-disconnect': {
    description: 'Ends live tails',
    memoryMb: 256,
    timeout: ROUTE_TIMEOUT,
    rights: TAIL_DISCONNECT_RIGHTS,
  },
  'tail-default': {
    description: 'Ignores what clients of live tails send',
    memoryMb: 128,
    timeout: ROUTE_TIMEOUT,
    rights: {},
  },
  'tail-dispatch': {
    description: 'Serves live tails',
    // One whole processor: it runs the queries of all tails of a tenant.
    memoryMb: 1769,
    // Lambda's most: a run goes on as long as something comes.
    timeout: Duration.minutes(15),
    rights: TAIL_DISPATCH_RIGHTS,
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
  /** For who puts a domain in front of it. */
  readonly host: string;
  readonly functions: Readonly<Record<TailFunctionName, LambdaFunction>>;
  /** Serves tails: called by who commits, and each minute while somebody tails. */
  readonly dispatch: LambdaFunction;

  constructor(scope: Construct, id: string, props: TailApiProps) {
    super(scope, id);
    const api = new WebSocketApi(this, 'Api', { description: 'Logboom: live tails' });
    const log = accessLog(this, 'tail', props.place.logRetention);
    const stage = new WebSocketStage(this, 'Stage', {
      webSocketApi: api,
      stageName: STAGE,
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: ACCESS_LOG },
    });
    // It refuses a log as long as the account has no role for that.
    if (props.logRole !== undefined) stage.node.addDependency(props.logRole);
    this.url = stage.url;
    this.host = hostOfApi(api.apiId);
    const place = { LOGBOOM_CONNECTIONS_ENDPOINT: stage.callbackUrl };
    this.dispatch = this.#addFunction('tail-dispatch', props, place);
    const connect = this.#addFunction('tail-connect', props, {
      ...place,
      LOGBOOM_TAIL_FUNCTION: this.dispatch.functionName,
    });
    const disconnect = this.#addFunction('tail-disconnect', props, place);
    const ignore = this.#addFunction('tail-default', props, {});
    this.#allowCalls(connect);
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
    this.functions = {
      'tail-connect': connect,
      'tail-disconnect': disconnect,
      'tail-default': ignore,
      'tail-dispatch': this.dispatch,
    };
    const routes = [
      ['$connect', connect, props.authorizer],
      ['$disconnect', disconnect, undefined],
      ['$default', ignore, undefined],
    ] as const;
    for (const [key, lambda, authorizer] of routes) {
      const integration = new WebSocketLambdaIntegration(`${key.slice(1)}Integration`, lambda);
      const route = api.addRoute(key, { integration, ...(authorizer === undefined ? {} : { authorizer }) });
      if (authorizer === undefined) acceptWithoutAuthorizer(route, key);
    }
    // What no call came for is found by the timer. A call that fails is not repeated: the next one finds the same.
    props.failed.takeFrom(this.dispatch, MAX_CALL_AGE);
  }

  /** A function that commits: it calls the dispatcher where tails exist. */
  calledBy(lambda: LambdaFunction): void {
    lambda.addEnvironment('LOGBOOM_TAIL_FUNCTION', this.dispatch.functionName);
    this.#allowCalls(lambda);
  }

  #allowCalls(lambda: LambdaFunction): void {
    lambda.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.dispatch.functionArn] }),
    );
  }

  #addFunction(
    name: TailFunctionName,
    { code, place }: TailApiProps,
    environment: Readonly<Record<string, string>>,
  ): LambdaFunction {
    return new ApiFunction(this, name, {
      name,
      functionClass: TAIL_CLASSES[name],
      code: code[name],
      place,
      environment,
    }).lambda;
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
