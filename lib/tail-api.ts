/**
 * Live tails: a WebSocket API, a function for each of its routes, and the dispatcher. Pushes call it if tails
 * exist, and the timer calls it every minute while they do (due-work.ts).
 *
 * Pitfall: a WebSocket API has no paths, so its stage is the endpoint of all tails. The paths of the HTTP API
 * exist in CloudFront in front of both (edge.ts).
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
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import { hostOfApi } from './edge.ts';
import type { FunctionClass } from './function-classes.ts';
import { accessLog } from './gateway-logs.ts';
import { TAIL_CONNECT_RIGHTS, TAIL_DISCONNECT_RIGHTS, TAIL_DISPATCH_RIGHTS } from './rights.ts';
import type { FailedCalls } from './schedules.ts';

interface TailApiProps {
  /** Bundle folder of each function. */
  readonly code: Readonly<Record<TailFunctionName, string>>;
  readonly shared: SharedFunctionProps;
  /** Authorizer of connections; undefined allows all. */
  readonly authorizer: IWebSocketRouteAuthorizer | undefined;
  readonly failed: FailedCalls;
  /** Resource that must exist before the API may log; undefined if the account already has it. */
  readonly logRole: IDependable | undefined;
}

/** Only path of the API. */
export const STAGE = 'live';
/** The gateway waits 29 s for a response; clients do not. */
const ROUTE_TIMEOUT = Duration.seconds(10);
/** The next call does the same work. */
const MAX_CALL_AGE = Duration.minutes(1);

const TAIL_CLASSES: Readonly<Record<TailFunctionName, FunctionClass>> = {
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
    // One whole vCPU, because it runs the queries of all tails of a tenant.
    memoryMb: 1769,
    // Maximum of Lambda: a run continues while entries arrive.
    timeout: Duration.minutes(15),
    rights: TAIL_DISPATCH_RIGHTS,
  },
};

/** Access log fields, without addresses and query strings, because those contain search terms. */
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
  /** URL of the stage, for clients. */
  readonly url: string;
  /** Host name, for custom domains. */
  readonly host: string;
  readonly functions: Readonly<Record<TailFunctionName, LambdaFunction>>;
  /** Serves tails: called by functions that commit, and each minute while tails exist. */
  readonly dispatch: LambdaFunction;

  constructor(scope: Construct, id: string, props: TailApiProps) {
    super(scope, id);
    const api = new WebSocketApi(this, 'Api', { description: 'Logboom: live tails' });
    const log = accessLog(this, 'tail', props.shared.logRetention);
    const stage = new WebSocketStage(this, 'Stage', {
      webSocketApi: api,
      stageName: STAGE,
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: ACCESS_LOG },
    });
    // The stage refuses to log until the account has a role for that.
    if (props.logRole !== undefined) stage.node.addDependency(props.logRole);
    this.url = stage.url;
    this.host = hostOfApi(api.apiId);
    const environment = { LOGBOOM_CONNECTIONS_ENDPOINT: stage.callbackUrl };
    this.dispatch = this.#addFunction('tail-dispatch', props, environment);
    const connect = this.#addFunction('tail-connect', props, {
      ...environment,
      LOGBOOM_TAIL_FUNCTION: this.dispatch.functionName,
    });
    const disconnect = this.#addFunction('tail-disconnect', props, environment);
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
    // The timer finds work whose call was lost. Failed calls are not retried, because the next one finds the
    // same work.
    props.failed.takeFrom(this.dispatch, MAX_CALL_AGE);
  }

  /** Lets a committing function call the dispatcher if tails exist. */
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
    { code, shared }: TailApiProps,
    environment: Readonly<Record<string, string>>,
  ): LambdaFunction {
    return new ApiFunction(this, name, {
      name,
      functionClass: TAIL_CLASSES[name],
      code: code[name],
      shared,
      environment,
    }).lambda;
  }
}

function acceptAllConnections(lambda: LambdaFunction, api: WebSocketApi): void {
  const logicalId = api.stack.getLogicalId(api.node.defaultChild as never);
  const connections = `execute-api:<AWS::Region>:<AWS::AccountId>:<${logicalId}>/${STAGE}/*/@connections/*`;
  Validations.of(lambda.role as Role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:${connections}]`,
    reason: 'IDs of connections are not known in advance, so the function may post to all of this API.',
  });
}

function acceptWithoutAuthorizer(route: Construct, key: string): void {
  Validations.of(route).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason:
      key === '$connect'
        ? 'Chosen with --context authorization=none; a proxy in front authorizes requests.'
        : 'The gateway authorizes a connection only when it is opened.',
  });
}
