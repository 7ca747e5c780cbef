/**
 * The function that works on parts of queries, and the right of the query function to call it. It reads objects of the bucket
 * and nothing else: no table, no other function.
 */
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { ApiFunction } from './api-function.ts';
import { API_TIMEOUT, type FunctionClass } from './function-classes.ts';

const WORKER_CLASS: FunctionClass = {
  description: 'Works on parts of queries',
  // One whole processor: a task has one thread, and more memory buys no more of it.
  memoryMb: 1769,
  timeout: API_TIMEOUT,
  objectActions: ['s3:GetObject'],
  tableActions: [],
};

export interface QueryWorkersProps {
  /** Folder of its bundle. */
  readonly code: string;
  readonly bucket: Bucket;
  readonly table: Table;
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetention: RetentionDays;
  /** Calls it. */
  readonly query: ApiFunction['lambda'];
}

export class QueryWorkers extends Construct {
  constructor(scope: Construct, id: string, { query, ...props }: QueryWorkersProps) {
    super(scope, id);
    const { lambda } = new ApiFunction(this, 'Worker', { functionClass: WORKER_CLASS, ...props });
    query.addEnvironment('LOGBOOM_QUERY_WORKER', lambda.functionName);
    query.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [lambda.functionArn] }),
    );
  }
}
