/** Converts rights (rights.ts) into policy statements with resources and keys. */
import { Validations } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { type ItemFamily, type ObjectKind, patternsOf, type Rights, STORE_MARK } from './rights.ts';

export interface Granted {
  readonly bucket: Bucket;
  readonly table: ITable;
  /** Key of bucket and table, if the user has one. */
  readonly key: IKey | undefined;
  /** Key of the overrides object; empty if there is none. */
  readonly overridesObject: string;
}

export function grant(role: Role, rights: Rights, granted: Granted): void {
  grantObjects(role, rights, granted);
  grantItems(role, rights, granted);
  if (granted.key !== undefined) grantKey(role, rights, granted.key);
}

function grantObjects(role: Role, rights: Rights, { bucket, overridesObject }: Granted): void {
  const patternOf = (kind: ObjectKind) => `*/${kind}/*`;
  const gets = (rights.getObjects ?? []).map(patternOf);
  if (rights.marksStore) gets.push(STORE_MARK);
  if (rights.getsOverrides && overridesObject !== '') gets.push(overridesObject);
  const patterns: Record<string, readonly string[]> = {
    's3:GetObject': gets,
    's3:PutObject': [...(rights.putObjects ?? []).map(patternOf), ...(rights.marksStore ? [STORE_MARK] : [])],
    's3:DeleteObject': (rights.deleteObjects ?? []).map(patternOf),
  };
  for (const [action, keys] of Object.entries(patterns)) {
    if (keys.length === 0) continue;
    role.addToPolicy(
      new PolicyStatement({ actions: [action], resources: keys.map(key => bucket.arnForObjects(key)) }),
    );
    for (const key of keys) if (key.includes('*')) acceptKeys(role, bucket, key);
  }
  if (rights.listsObjects || gets.includes(overridesObject))
    role.addToPolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }));
}

function grantItems(role: Role, rights: Rights, { table }: Granted): void {
  if (rights.describesTable)
    role.addToPolicy(
      new PolicyStatement({ actions: ['dynamodb:DescribeTable'], resources: [table.tableArn] }),
    );
  const families: readonly (readonly [readonly string[], readonly ItemFamily[] | undefined])[] = [
    [['dynamodb:GetItem', 'dynamodb:Query'], rights.readItems],
    [['dynamodb:PutItem'], rights.putItems],
    [['dynamodb:DeleteItem'], rights.deleteItems],
    [['dynamodb:ConditionCheckItem'], rights.checkItems],
  ];
  for (const [actions, named] of families) {
    if (named === undefined || named.length === 0) continue;
    role.addToPolicy(
      new PolicyStatement({
        actions: [...actions],
        resources: [table.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patternsOf(named) } },
      }),
    );
  }
}

/** S3 and DynamoDB use the key on behalf of the caller, and no other service may. */
function grantKey(role: Role, rights: Rights, key: IKey): void {
  const services: string[] = [];
  if (rights.getObjects !== undefined || rights.putObjects !== undefined) services.push('s3');
  if (rights.readItems !== undefined || rights.putItems !== undefined) services.push('dynamodb');
  if (services.length === 0) return;
  const via = services.map(service => `${service}.${regionOf(key)}.amazonaws.com`);
  role.addToPolicy(
    new PolicyStatement({
      actions: [
        ...['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt'],
        ...['kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'],
      ],
      resources: [key.keyArn],
      conditions: { StringEquals: { 'kms:ViaService': via } },
    }),
  );
}

/** Region of a key, from its ARN. */
function regionOf({ keyArn }: IKey): string {
  return keyArn.split(':')[3];
}

function acceptKeys(role: Role, bucket: Bucket, pattern: string): void {
  const logicalId = bucket.stack.getLogicalId(bucket.node.defaultChild as never);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/${pattern}]`,
    reason:
      'Keys of objects begin with the tenant, and a function serves all tenants, so its rights are limited to a kind of object.',
  });
}
