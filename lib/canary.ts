/**
 * Canary (shared/server/canary/canary-round.ts) and its schedule. It may call only two endpoints of this
 * store.
 */
import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { HANDLER } from './bundle.ts';
import type { LogboomApi } from './http-api.ts';
import { type FailedCalls, Timer } from './schedules.ts';
import type { Settings } from './settings.ts';

interface CanaryProps {
  readonly settings: Pick<Settings, 'authorization' | 'canaryTenant' | 'canarySecretArn'>;
  readonly code: string;
  readonly http: LogboomApi;
  /** Base URL for client requests. */
  readonly baseUrl: string;
  readonly failed: FailedCalls;
  readonly logRetention: RetentionDays;
}

/** Interval of rounds. The alarm needs two failed rounds: 15 minutes. */
export const CANARY_EVERY = Duration.minutes(5);
/** Three requests of up to 15 s, and the start. */
const TIMEOUT = Duration.minutes(1);
const ENDPOINTS = ['POST/loki/api/v1/push', 'GET/loki/api/v1/query_range'];

export class Canary extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: CanaryProps) {
    super(scope, id);
    const { settings, code, http, baseUrl, failed, logRetention } = props;
    const { authorization, canaryTenant, canarySecretArn } = settings;
    const logGroup = new LogGroup(this, 'Log', {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    if (authorization === 'iam') {
      const api = `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${http.apiId}/$default`;
      const resources = ENDPOINTS.map(endpoint => `${api}/${endpoint}`);
      role.addToPolicy(new PolicyStatement({ actions: ['execute-api:Invoke'], resources }));
    }
    if (authorization === 'token') {
      role.addToPolicy(
        new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [canarySecretArn] }),
      );
    }
    this.lambda = new LambdaFunction(this, 'Function', {
      description: 'Logboom: pushes known entries and reads them back',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 256,
      timeout: TIMEOUT,
      handler: HANDLER,
      code: Code.fromAsset(code),
      role,
      logGroup,
      environment: {
        LOGBOOM_URL: baseUrl,
        LOGBOOM_TENANT: canaryTenant,
        ...(authorization === 'iam' ? { LOGBOOM_SIGNING_HOST: http.host } : {}),
        ...(authorization === 'token' ? { LOGBOOM_TOKEN_SECRET: canarySecretArn } : {}),
      },
    });
    failed.takeFrom(this.lambda);
    const timer = new Timer(this, 'Timer', { lambda: this.lambda, failed });
    timer.add('Round', {
      description: 'runs the canary',
      everyMs: CANARY_EVERY.toMilliseconds(),
      event: {},
    });
  }
}
