/** Bucket and table, what becomes of them, and what the functions are given. */
import { describe, expect, test } from '@jest/globals';
import { reservationsOf } from '../../lib/concurrency.ts';
import { type Built, functionOfId, idIn } from './build.ts';
import { COMPACTION_FUNCTIONS, VARIANTS } from './variants.ts';

export function dataTests(built: () => Built): void {
  const ofData = (assembly: Built['assemblies']['default']) => {
    const [, bucket] = assembly.ofType('AWS::S3::Bucket').find(([id]) => id.startsWith('Chunks'))!;
    const [[, table]] = assembly.ofType('AWS::DynamoDB::Table');
    return { bucket, table };
  };

  test('every bucket is encrypted, private, and reached over TLS alone', () => {
    for (const assembly of Object.values(built().assemblies)) {
      const policies = assembly.ofType('AWS::S3::BucketPolicy').map(([, { Properties }]) => Properties);
      for (const [id, { Properties }] of assembly.ofType('AWS::S3::Bucket')) {
        const all = { BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true };
        expect(Properties.PublicAccessBlockConfiguration).toEqual({ ...all, RestrictPublicBuckets: true });
        expect(Properties.OwnershipControls).toEqual({ Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] });
        expect(Properties.BucketEncryption.ServerSideEncryptionConfiguration).toHaveLength(1);
        const policy = policies.find(({ Bucket }) => idIn(Bucket) === id);
        expect(policy.PolicyDocument.Statement).toContainEqual(
          expect.objectContaining({
            Effect: 'Deny',
            Action: 's3:*',
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        );
        // A policy allows only CloudFront, for the page.
        for (const { Effect, Principal } of policy.PolicyDocument.Statement) {
          if (Effect === 'Allow') expect(Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
        }
      }
    }
  });

  test('bucket and table stay by default, backed up and paid by request', () => {
    const { bucket, table } = ofData(built().assemblies.iam);
    expect(bucket).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
        LifecycleConfiguration: {
          Rules: [{ Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }],
        },
      },
    });
    expect(bucket.Properties.VersioningConfiguration).toBeUndefined();
    // Only incomplete uploads may expire.
    expect(JSON.stringify(bucket.Properties.LifecycleConfiguration)).not.toMatch(/Expiration|Transition/);
    expect(table).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
      },
    });
  });

  test('bucket and table can have a key, versions, and deletion of everything', () => {
    const { full } = built().assemblies;
    const { bucket, table } = ofData(full);
    const key = VARIANTS.full.kmsKeyArn;
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Delete',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [
            {
              BucketKeyEnabled: true,
              ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: key },
            },
          ],
        },
        VersioningConfiguration: { Status: 'Enabled' },
      },
    });
    expect(bucket.Properties.LifecycleConfiguration.Rules).toContainEqual(
      expect.objectContaining({
        NoncurrentVersionExpiration: { NoncurrentDays: 3 },
        ExpiredObjectDeleteMarker: true,
      }),
    );
    expect(table).toMatchObject({
      DeletionPolicy: 'Delete',
      Properties: { SSESpecification: { KMSMasterKeyId: key }, DeletionProtectionEnabled: false },
    });
  });

  test('removal leaves nothing: buckets are emptied after their writers are gone', () => {
    const { full, iam: kept } = built().assemblies;
    const stays = ([, { DeletionPolicy }]: [string, { DeletionPolicy?: string }]) =>
      DeletionPolicy === 'Retain' || DeletionPolicy === 'RetainExceptOnCreate';
    const ofGateway = ['AWS::ApiGateway::Account', 'AWS::IAM::Role'];
    // A setting of the account, which other APIs may lean on.
    expect(
      Object.entries(full.resources)
        .filter(stays)
        .map(([, { Type }]) => Type)
        .sort(),
    ).toEqual(ofGateway);
    expect(
      Object.entries(kept.resources)
        .filter(stays)
        .map(([, { Type }]) => Type)
        .sort(),
    ).toEqual(['AWS::ApiGateway::Account', 'AWS::DynamoDB::Table', 'AWS::IAM::Role', 'AWS::S3::Bucket']);
    const emptied = full.ofType('Custom::LogboomBucketContent');
    const buckets = full.ofType('AWS::S3::Bucket').map(([id]) => id);
    expect(emptied.map(([, { Properties }]) => idIn(Properties.BucketName)).sort()).toEqual(buckets.sort());
    const [ofChunks] = emptied.find(([id]) => id.startsWith('Chunks'))!;
    for (const [id, { DependsOn = [] }] of full.ofType('AWS::Lambda::Function')) {
      const writes = ['push', 'maintenance', 'cloudwatch-logs', 's3-objects'].includes(functionOfId(id));
      if (writes) expect(DependsOn).toContain(ofChunks);
    }
    expect(kept.ofType('Custom::LogboomBucketContent')).toHaveLength(1);
  });

  test('no log group is created by Lambda, which would keep it forever', () => {
    for (const [name, assembly] of Object.entries(built().assemblies)) {
      const days = name === 'full' ? 7 : 30;
      for (const [id, { Properties, DeletionPolicy }] of assembly.ofType('AWS::Logs::LogGroup'))
        expect([id, Properties.RetentionInDays, DeletionPolicy]).toEqual([id, days, 'Delete']);
      for (const [, { Properties }] of assembly.ofType('AWS::Lambda::Function'))
        expect(assembly.resources[idIn(Properties.LoggingConfig.LogGroup)].Type).toBe('AWS::Logs::LogGroup');
    }
  });

  describe('the functions', () => {
    test('run on the pinned runtime, within the gateway’s time', () => {
      const { full } = built().assemblies;
      const functions = full.ofType('AWS::Lambda::Function');
      const slow = new Set(['maintenance', 'tail-dispatch', 's3-objects', 'page-content', 'bucket-content']);
      for (const [id, { Properties }] of functions) {
        const name = functionOfId(id);
        expect(Properties).toMatchObject({
          Architectures: ['arm64'],
          Runtime: 'nodejs24.x',
          Handler: 'index.handler',
        });
        const tags = (Properties.Tags ?? []) as { Key: string; Value: string }[];
        const component = tags.find(({ Key }) => Key === 'logboom:component')?.Value;
        if (name === 'push') expect(component).toBe('distributor ingester');
        if (name === 'query-worker') expect(component).toBe('querier');
        if (slow.has(name)) expect(Properties.Timeout).toBe(900);
        else if (name === 'canary' || name === 'cloudwatch-logs') expect(Properties.Timeout).toBe(60);
        else if (name === 'timer') expect(Properties.Timeout).toBe(30);
        else expect(Properties.Timeout).toBeLessThan(30);
      }
      expect(functions.map(([id]) => functionOfId(id)).sort()).toEqual([
        ...['bucket-content', 'canary', 'cloudwatch-logs', 'maintenance', 'page-content', 'push', 'query'],
        ...['query-worker', 's3-objects', 'status'],
        ...['tail-connect', 'tail-default', 'tail-disconnect', 'tail-dispatch', 'timer'],
      ]);
    });

    test('queries have their share of an account, and nothing is reserved for an account of unknown size', () => {
      const reserved = (assembly: Built['assemblies']['default']) =>
        Object.fromEntries(
          assembly
            .ofType('AWS::Lambda::Function')
            .map(([id, { Properties }]) => [functionOfId(id), Properties.ReservedConcurrentExecutions])
            .filter(([, calls]) => calls !== undefined),
        );
      expect(reserved(built().assemblies.iam)).toEqual({});
      const { query, worker, maintenance } = reservationsOf(1000, COMPACTION_FUNCTIONS)!;
      expect(maintenance).toBe(COMPACTION_FUNCTIONS + 10);
      expect(reserved(built().assemblies.full)).toEqual({ query, 'query-worker': worker, maintenance });
    });
  });
}
