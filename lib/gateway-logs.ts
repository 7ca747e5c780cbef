/**
 * Access logs of the APIs, and the role that API Gateway needs to log a WebSocket API.
 *
 * Pitfall: the role is a setting of the account and region, not of an API. Deleting the resource does not
 * reset it, and other APIs may rely on it. So the role stays when the stack is deleted
 * (docs/reference/aws.md#teardown).
 */
import { Aws, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct, type IDependable } from 'constructs';

/**
 * Log group prefix. Groups below it share one statement of the CloudWatch Logs resource policy, which has
 * space for about ten others.
 */
const PREFIX = '/aws/vendedlogs/logboom';
const POLICY = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs';

/** @param name API name within the group's name; unique in the stack */
export function accessLog(scope: Construct, name: string, retention: RetentionDays): LogGroup {
  return new LogGroup(scope, 'AccessLog', {
    // Uses the deployed name: a packaged template may get another one (scripts/package-cloudformation.mjs).
    logGroupName: `${PREFIX}/${Aws.STACK_NAME}/${name}`,
    retention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

/** Sets the account's role. Stages that log through it depend on `isSet`. */
export class GatewayLogRole extends Construct {
  readonly isSet: IDependable;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const role = new Role(this, 'Role', {
      description: 'Logboom: lets API Gateway write logs, for all APIs of the account in this region',
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(POLICY)],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${POLICY}]`,
      reason:
        'API Gateway looks for the rights of this policy before it accepts a role, which all of its APIs share.',
    });
    const account = new CfnAccount(this, 'Account', { cloudWatchRoleArn: role.roleArn });
    account.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    account.node.addDependency(role);
    this.isSet = account;
  }
}
