/**
 * Lets a function call itself: maintenance has other instances of it merge the day of a large tenant, and the query
 * worker has others read what it merges.
 */

import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/** A separate policy: one of the role would be created before the function that it names. */
export function allowSelfCalls(scope: Construct, id: string, { role, functionArn }: LambdaFunction): void {
  const statements = [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] })];
  new Policy(scope, id, { roles: role === undefined ? [] : [role], statements });
}
