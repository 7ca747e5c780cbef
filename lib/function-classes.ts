/** Memory, time and rights of each function, by what its routes may cost. */
import { Duration } from 'aws-cdk-lib';
import type { FunctionName } from '../functions/groups.ts';

export interface FunctionClass {
  readonly description: string;
  readonly memoryMb: number;
  readonly timeout: Duration;
  /** On the objects of the bucket. */
  readonly objectActions: readonly string[];
  /** On the bucket itself. */
  readonly bucketActions?: readonly string[];
  /** On the table. A transaction of puts needs the right to put, and no other. */
  readonly tableActions: readonly string[];
}

/** Longer than any answer takes (functions/deadline.ts), shorter than the gateway waits. */
export const API_TIMEOUT = Duration.seconds(29);
/** Lambda's most: a schedule calls, and nobody waits. Requests are answered within the gateway's time all the same. */
const SCHEDULED_TIMEOUT = Duration.minutes(15);

export const FUNCTION_CLASSES: Readonly<Record<FunctionName, FunctionClass>> = {
  push: {
    description: 'Stores logs',
    // One whole processor: decoding and compressing are all it does.
    memoryMb: 1769,
    timeout: API_TIMEOUT,
    // A put that finds its key taken reads what an earlier try has written.
    objectActions: ['s3:PutObject', 's3:GetObject'],
    // A transaction that announces a day looks whether it is there; limits ask what other processes take.
    tableActions: ['dynamodb:PutItem', 'dynamodb:GetItem', 'dynamodb:ConditionCheckItem', 'dynamodb:Query'],
  },
  query: {
    description: 'Reads logs',
    // The most that a new account may ask for; footers, pages and results of one query share it.
    memoryMb: 3008,
    timeout: API_TIMEOUT,
    objectActions: ['s3:GetObject'],
    // It writes down what was asked, for usage.
    tableActions: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem'],
  },
  maintenance: {
    description: 'Packs, indexes and collects what is stored',
    // Merging is bound by the processor: almost two of them, and a page of each of up to 90 inputs.
    memoryMb: 3008,
    timeout: SCHEDULED_TIMEOUT,
    objectActions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
    // The walk that looks for orphans.
    bucketActions: ['s3:ListBucket'],
    // A swap depends on a lease, and deletes the records that it replaces.
    tableActions: [
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
  },
  status: {
    description: 'Answers what needs no stored data',
    memoryMb: 256,
    timeout: Duration.seconds(10),
    objectActions: [],
    tableActions: [],
  },
};
