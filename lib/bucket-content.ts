/**
 * Custom resources for bucket operations that CloudFormation lacks: filling a bucket with the files of a
 * bundle, and emptying it before its deletion. Each has its own function. Those of the CDK bring a Python
 * runtime, rights on every bucket, and a log group that stays behind.
 *
 * Pitfall: deletion runs against the dependencies. Functions that write into the bucket depend on this
 * resource, so they are gone when it empties the bucket. It in turn depends on its role and its log group.
 */
import { CustomResource, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { HANDLER } from './bundle.ts';

interface BucketContentProps {
  readonly bucket: Bucket;
  /** Bundle folder, with files below `page` if there are any. */
  readonly code: string;
  readonly logRetention: RetentionDays;
  /** Files to copy; a changed hash copies them again. Undefined only empties the bucket. */
  readonly files?: { readonly keyPrefix: string; readonly hash: string };
}

export class BucketContent extends Construct {
  constructor(scope: Construct, id: string, { bucket, code, logRetention, files }: BucketContentProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Log', {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    const objects = [
      's3:DeleteObject',
      's3:DeleteObjectVersion',
      ...(files === undefined ? [] : ['s3:PutObject']),
    ];
    const list = ['s3:ListBucketVersions', ...(files === undefined ? [] : ['s3:ListBucket'])];
    role.addToPolicy(new PolicyStatement({ actions: objects, resources: [bucket.arnForObjects('*')] }));
    role.addToPolicy(new PolicyStatement({ actions: list, resources: [bucket.bucketArn] }));
    const logicalId = bucket.stack.getLogicalId(bucket.node.defaultChild as never);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/*]`,
      reason: 'It deletes all objects of this one bucket when the stack is deleted.',
    });
    const lambda = new LambdaFunction(this, 'Function', {
      description: `Logboom: ${files === undefined ? 'empties' : 'fills and empties'} a bucket of the stack`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      // Maximum of Lambda. The function deletes 1,000 objects per call, a few million in total.
      timeout: Duration.minutes(15),
      handler: HANDLER,
      code: Code.fromAsset(code),
      role,
      logGroup,
    });
    const resource = new CustomResource(this, 'Content', {
      serviceToken: lambda.functionArn,
      // Slightly longer than the function may take. Without it, a function that cannot start blocks a
      // deployment for an hour.
      serviceTimeout: Duration.minutes(16),
      resourceType: 'Custom::LogboomBucketContent',
      properties: {
        BucketName: bucket.bucketName,
        ...(files === undefined ? {} : { KeyPrefix: files.keyPrefix, ContentHash: files.hash }),
      },
    });
    resource.node.addDependency(role, logGroup, lambda);
    if (bucket.policy !== undefined) resource.node.addDependency(bucket.policy);
  }
}
