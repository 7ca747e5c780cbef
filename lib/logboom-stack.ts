/** All of Logboom in an account: data, functions, API, schedules. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  type EventFunctionName,
  FUNCTION_NAMES,
  type FunctionName,
  type TailFunctionName,
  type WorkerFunctionName,
} from '../functions/groups.ts';
import type { Schedule } from '../shared/maintenance/maintenance.ts';
import { ApiFunction } from './api-function.ts';
import { EventFunctions } from './event-functions.ts';
import type { EventSettings } from './event-settings.ts';
import { FUNCTION_CLASSES } from './function-classes.ts';
import { type Authorization, LogboomApi } from './http-api.ts';
import { QueryWorkers } from './query-workers.ts';
import { MaintenanceSchedules } from './schedules.ts';
import { createBucket, createTable } from './storage.ts';
import { TailApi } from './tail-api.ts';

export interface LogboomStackProps extends StackProps {
  /** Folder of the bundle of each function; of those for events, of what `events` asks for. */
  readonly code: Readonly<
    Record<FunctionName | TailFunctionName | WorkerFunctionName, string> &
      Partial<Record<EventFunctionName, string>>
  >;
  readonly events: EventSettings;
  readonly authorization: Authorization;
  /** The configuration of the functions, YAML; empty is the program's own. */
  readonly configYaml: string;
  /** Of the jobs that this configuration has. */
  readonly schedules: readonly Schedule[];
}

/** Of the logs of the functions and of the API, not of what is stored. */
const LOG_RETENTION = RetentionDays.ONE_MONTH;

export class LogboomStack extends Stack {
  constructor(scope: Construct, id: string, props: LogboomStackProps) {
    super(scope, id, { description: 'Logboom, a multi-tenant log store', ...props });
    const bucket = createBucket(this);
    const table = createTable(this);
    const environment: Record<string, string> =
      props.configYaml === '' ? {} : { LOGBOOM_CONFIG_YAML: props.configYaml };
    const functions = Object.fromEntries(
      FUNCTION_NAMES.map(name => [
        name,
        new ApiFunction(this, titled(name), {
          functionClass: FUNCTION_CLASSES[name],
          code: props.code[name],
          bucket,
          table,
          environment,
          logRetention: LOG_RETENTION,
        }).lambda,
      ]),
    ) as Record<FunctionName, ApiFunction['lambda']>;
    const { authorization } = props;
    const api = new LogboomApi(this, 'Http', { functions, authorization, logRetention: LOG_RETENTION });
    new MaintenanceSchedules(this, 'Schedules', {
      lambda: functions.maintenance,
      schedules: props.schedules,
    });
    const tail = new TailApi(this, 'Tail', {
      code: props.code,
      bucket,
      table,
      environment,
      authorization,
      logRetention: LOG_RETENTION,
    });
    tail.calledBy(functions.push);
    new QueryWorkers(this, 'Workers', {
      code: props.code['query-worker'],
      bucket,
      table,
      environment,
      logRetention: LOG_RETENTION,
      query: functions.query,
    });
    new EventFunctions(this, 'Events', {
      settings: props.events,
      code: props.code,
      bucket,
      table,
      environment,
      logRetention: LOG_RETENTION,
      onFunction: lambda => tail.calledBy(lambda),
    });

    new CfnOutput(this, 'Url', { description: 'Where clients push and ask', value: api.url });
    new CfnOutput(this, 'TailUrl', { description: 'Where live tails connect', value: tail.url });
    new CfnOutput(this, 'BucketName', { description: 'Holds the chunks', value: bucket.bucketName });
    new CfnOutput(this, 'TableName', { description: 'Holds the catalog', value: table.tableName });
  }
}

function titled(name: string): string {
  return name[0].toUpperCase() + name.slice(1);
}
