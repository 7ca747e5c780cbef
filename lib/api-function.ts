/** A function behind the API, with a role of its own that may do what its class needs. */
import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { HANDLER } from './bundle.ts';
import type { FunctionClass } from './function-classes.ts';

export interface ApiFunctionProps {
  readonly functionClass: FunctionClass;
  /** The folder of its bundle. */
  readonly code: string;
  readonly bucket: Bucket;
  readonly table: Table;
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
}

export class ApiFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id);
    const { functionClass, code, bucket, table, environment, logRetention } = props;
    const logGroup = new LogGroup(this, 'Log', {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Not the managed policy for functions: it allows every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    allow(role, functionClass.objectActions, bucket.arnForObjects('*'));
    allow(role, functionClass.bucketActions ?? [], bucket.bucketArn);
    allow(role, functionClass.tableActions, table.tableArn);
    if (functionClass.objectActions.length > 0) acceptAllObjects(role, bucket);
    this.lambda = new LambdaFunction(this, 'Function', {
      description: `Logboom: ${functionClass.description}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: functionClass.memoryMb,
      timeout: functionClass.timeout,
      handler: HANDLER,
      code: Code.fromAsset(code),
      role,
      logGroup,
      environment: { ...environment, LOGBOOM_BUCKET: bucket.bucketName, LOGBOOM_TABLE: table.tableName },
    });
  }
}

function allow(role: Role, actions: readonly string[], resource: string): void {
  if (actions.length > 0)
    role.addToPolicy(new PolicyStatement({ actions: [...actions], resources: [resource] }));
}

function acceptAllObjects(role: Role, bucket: Bucket): void {
  const logicalId = bucket.stack.getLogicalId(bucket.node.defaultChild as never);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/*]`,
    reason: 'Keys of objects begin with the tenant: a function reads and writes those of all tenants.',
  });
}
