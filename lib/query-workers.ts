/**
 * Worker function for query tasks, and the query function's right to call it. It reads objects of the bucket, and calls
 * itself to merge the results of many tasks. It has no access to the table and to other functions.
 */
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import { API_TIMEOUT, type FunctionClass } from './function-classes.ts';
import { WORKER_RIGHTS } from './rights.ts';
import { allowSelfCalls } from './self-calls.ts';

const WORKER_CLASS: FunctionClass = {
  description: 'Runs parts of queries',
  // One whole vCPU: a task uses one thread, and more memory adds no speed.
  memoryMb: 1769,
  timeout: API_TIMEOUT,
  rights: WORKER_RIGHTS,
};

interface QueryWorkersProps {
  /** Bundle folder. */
  readonly code: string;
  readonly shared: SharedFunctionProps;
  /** See ApiFunctionProps. */
  readonly reservedConcurrency: number | undefined;
  /** Function that calls it. */
  readonly query: ApiFunction['lambda'];
}

export class QueryWorkerFunctions extends Construct {
  readonly lambda: ApiFunction['lambda'];

  constructor(scope: Construct, id: string, { query, ...props }: QueryWorkersProps) {
    super(scope, id);
    const { lambda } = new ApiFunction(this, 'Worker', {
      name: 'query-worker',
      functionClass: WORKER_CLASS,
      ...props,
    });
    this.lambda = lambda;
    query.addEnvironment('LOGBOOM_QUERY_WORKER', lambda.functionName);
    if (props.reservedConcurrency !== undefined) {
      query.addEnvironment('LOGBOOM_QUERY_WORKER_CALLS', `${props.reservedConcurrency}`);
    }
    query.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [lambda.functionArn] }),
    );
    allowSelfCalls(this, 'SelfCalls', lambda);
  }
}
