/**
 * Store as one function with a URL (`endpoint=function-url`), for emulators without HTTP APIs and EventBridge
 * Scheduler. It has all routes and all jobs, so it has the rights of maintenance. Live tails need the
 * WebSocket API.
 *
 * Pitfall: nothing protects the URL. With tokens, the function checks them itself.
 */
import { Duration, Fn } from 'aws-cdk-lib';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import { ALL_IN_ONE_RIGHTS } from './rights.ts';
import type { Authorization } from './settings.ts';

const ALL_IN_ONE_CLASS: FunctionClass = {
  description: 'Handles all requests',
  // Memory of queries and maintenance, because it runs both.
  memoryMb: 3008,
  timeout: Duration.minutes(15),
  rights: ALL_IN_ONE_RIGHTS,
};

interface FunctionUrlProps {
  readonly code: string;
  readonly shared: SharedFunctionProps;
  readonly authorization: Authorization;
}

export class FunctionUrlEndpoint extends Construct {
  readonly lambda: ApiFunction['lambda'];
  /** URL without a trailing slash. */
  readonly url: string;

  constructor(scope: Construct, id: string, { code, shared, authorization }: FunctionUrlProps) {
    super(scope, id);
    const { lambda } = new ApiFunction(this, 'AllInOne', {
      name: 'all-in-one',
      functionClass: ALL_IN_ONE_CLASS,
      code,
      shared,
      environment: { LOGBOOM_AUTHORIZATION: authorization === 'token' ? 'own-token' : authorization },
    });
    const authType = authorization === 'iam' ? FunctionUrlAuthType.AWS_IAM : FunctionUrlAuthType.NONE;
    const { url } = lambda.addFunctionUrl({ authType });
    const parts = Fn.split('/', url);
    this.url = Fn.join('', [Fn.select(0, parts), '//', Fn.select(2, parts)]);
    this.lambda = lambda;
  }
}
