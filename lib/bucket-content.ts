/**
 * Custom resources for what CloudFormation cannot do with a bucket: fill it with the files of a bundle, and empty it before it is
 * deleted. One function each, of our own, because those of the CDK bring a runtime of Python, rights on every bucket, and a log
 * group that stays behind.
 *
 * What a reader would get wrong: what must outlive what. Deleting goes against the dependencies, so functions that write into
 * the bucket depend on this resource: they are gone when it empties the bucket. It depends on its role and its log in turn.
 */
import { CustomResource, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { HANDLER } from './bundle.ts';

export interface BucketContentProps {
  readonly bucket: Bucket;
  /** Folder of the bundle, with the files below `page` where there are any. */
  readonly code: string;
  readonly logRetention: RetentionDays;
  /** The files, as they are now: another hash puts them anew. Undefined: the bucket is only emptied. */
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
      reason: 'It empties this one bucket, whatever lies in it, when the stack is deleted.',
    });
    const lambda = new LambdaFunction(this, 'Function', {
      description: `Logboom: ${files === undefined ? 'empties' : 'fills and empties'} a bucket of the stack`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      // Lambda's most: it deletes a thousand objects a call, some millions in all.
      timeout: Duration.minutes(15),
      handler: HANDLER,
      code: Code.fromAsset(code),
      role,
      logGroup,
    });
    const resource = new CustomResource(this, 'Content', {
      serviceToken: lambda.functionArn,
      // A little longer than the function may take; without it a function that cannot start holds a deployment for an hour.
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
