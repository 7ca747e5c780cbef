/**
 * Function that exports closed days as Parquet files to a bucket of the user, its schedule, and a Glue table over
 * the files. The table needs no crawler: its partitions are computed from the query (partition projection).
 *
 * Pitfall: a query must name one tenant or a list of them. Tenants are not known when the stack is deployed.
 */
import { Aws, CfnOutput, Duration, Validations } from 'aws-cdk-lib';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import { EXPORT_RIGHTS } from './rights.ts';
import { type FailedCalls, Timer } from './schedules.ts';

const EXPORT_CLASS: FunctionClass = {
  description: 'Exports closed days as Parquet files',
  // Entries of a step, their columns and a file are in memory together.
  memoryMb: 3008,
  // A run continues where the last one stopped, and a day of many entries takes several.
  timeout: Duration.minutes(15),
  rights: EXPORT_RIGHTS,
};
const EVERY = Duration.hours(1);
const DATABASE_CHARACTERS = /[^a-z0-9_]/g;
const TABLE = 'entries';
/** Folder of the files (functions/export-days-handler.ts). */
const FOLDER = 'entries';
/** Columns that every file has (shared/server/open-data/parquet-file.ts). */
const COLUMNS: Readonly<Record<string, string>> = {
  timestamp: 'timestamp',
  timestamp_ns: 'bigint',
  level: 'string',
  line: 'string',
  labels: 'map<string,string>',
  metadata: 'map<string,string>',
};
/** Days before it have no files. */
const FIRST_DAY = '2020-01-01';

interface ExportDaysProps {
  /** `s3://BUCKET/PREFIX`. */
  readonly exportTo: string;
  readonly stackName: string;
  /** Bundle folder. */
  readonly code: string;
  readonly shared: SharedFunctionProps;
  readonly failed: FailedCalls;
}

export class ExportDays extends Construct {
  readonly lambda: ApiFunction['lambda'];

  constructor(scope: Construct, id: string, { exportTo, stackName, code, shared, failed }: ExportDaysProps) {
    super(scope, id);
    const to = exportTo.replace(/\/$/, '');
    const { lambda } = new ApiFunction(this, 'Function', {
      name: 'export-days',
      functionClass: EXPORT_CLASS,
      code,
      shared,
      environment: { LOGBOOM_EXPORT_TO: to },
    });
    this.lambda = lambda;
    grantFiles(lambda.role as Role, to.slice('s3://'.length));
    failed.takeFrom(lambda);
    new Timer(this, 'Timer', { lambda, failed }).add('Hour', {
      description: 'exports closed days',
      everyMs: EVERY.toMilliseconds(),
      event: {},
    });
    const database = stackName.toLowerCase().replaceAll(DATABASE_CHARACTERS, '_');
    this.#addTable(database, `${to}/${FOLDER}`);
    new CfnOutput(this, 'TableName', {
      description: 'Athena table of the exported days',
      value: `${database}.${TABLE}`,
    });
  }

  #addTable(name: string, location: string): void {
    const database = new CfnDatabase(this, 'Database', {
      catalogId: Aws.ACCOUNT_ID,
      databaseInput: { name, description: 'Logboom: closed days' },
    });
    new CfnTable(this, 'Table', {
      catalogId: Aws.ACCOUNT_ID,
      databaseName: name,
      tableInput: {
        name: TABLE,
        description: 'Logboom: entries of closed days',
        tableType: 'EXTERNAL_TABLE',
        partitionKeys: ['tenant', 'day'].map(key => ({ name: key, type: 'string' })),
        parameters: {
          classification: 'parquet',
          EXTERNAL: 'TRUE',
          'projection.enabled': 'true',
          'projection.tenant.type': 'injected',
          'projection.day.type': 'date',
          'projection.day.format': 'yyyy-MM-dd',
          'projection.day.range': `${FIRST_DAY},NOW`,
          // Subfolders of services are read with the folder of the day.
          'storage.location.template': `${location}/tenant=\${tenant}/day=\${day}`,
        },
        storageDescriptor: {
          columns: Object.entries(COLUMNS).map(([column, type]) => ({ name: column, type })),
          location: `${location}/`,
          inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
          outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
          serdeInfo: {
            serializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
          },
        },
      },
    }).node.addDependency(database);
  }
}

/** @param destination `BUCKET/PREFIX` */
function grantFiles(role: Role, destination: string): void {
  const [bucket] = destination.split('/', 1);
  const arn = (path: string) => `arn:${Aws.PARTITION}:s3:::${path}`;
  role.addToPolicy(
    new PolicyStatement({
      actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
      resources: [arn(`${destination}/*`)],
    }),
  );
  // Otherwise S3 answers 403 for the state of a new tenant.
  role.addToPolicy(new PolicyStatement({ actions: ['s3:ListBucket'], resources: [arn(bucket)] }));
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::${destination}/*]`,
    reason:
      'The function writes every file below this prefix, with names that depend on tenants and services.',
  });
}
