/** All of Logboom in an account: data, functions, APIs, schedules, what stands before them and what watches them. */
import { Stack, type StackProps } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  type AnyFunctionName,
  FUNCTION_NAMES,
  type FunctionName,
  type StackFunctionName,
} from '../functions/groups.ts';
import type { Schedule } from '../shared/maintenance/maintenance.ts';
import { ApiFunction, type StorePlace } from './api-function.ts';
import { createAuthorizers } from './authorization.ts';
import { BucketContent } from './bucket-content.ts';
import { reservationsOf } from './concurrency.ts';
import { Edge, type PageAsset } from './edge.ts';
import { EventFunctions } from './event-functions.ts';
import type { EventSettings } from './event-settings.ts';
import { FUNCTION_CLASSES } from './function-classes.ts';
import { LogboomApi } from './http-api.ts';
import { addOutputs } from './outputs.ts';
import { QueryWorkers } from './query-workers.ts';
import { addMaintenance, FailedCalls, Timer } from './schedules.ts';
import type { Settings } from './settings.ts';
import { createBucket, createTable } from './storage.ts';
import { STAGE, TailApi } from './tail-api.ts';
import { Watch } from './watch.ts';

export interface LogboomStackProps extends StackProps {
  readonly settings: Settings;
  /** Folder of the bundle of each function that the settings ask for. */
  readonly code: Readonly<Partial<Record<AnyFunctionName | StackFunctionName, string>>>;
  readonly events: EventSettings;
  /** The configuration of the functions, YAML; empty is the program's own. */
  readonly configYaml: string;
  /** Key of the object with limits of tenants that it names; empty: none. */
  readonly overridesObject: string;
  /** Of the jobs that this configuration has. */
  readonly schedules: readonly Schedule[];
  /** Undefined: there is no explorer page. */
  readonly page: PageAsset | undefined;
}

export class LogboomStack extends Stack {
  constructor(scope: Construct, id: string, props: LogboomStackProps) {
    super(scope, id, { description: 'Logboom, a multi-tenant log store', ...props });
    const { settings, code } = props;
    const codeOf = (name: AnyFunctionName | StackFunctionName): string => {
      const folder = code[name];
      if (folder === undefined) throw new Error(`there is no bundle of ${name}`);
      return folder;
    };
    const place = this.createPlace(props, codeOf);
    const { logRetention } = place;
    const reserved = reservationsOf(settings.concurrency);
    const functions = Object.fromEntries(
      FUNCTION_NAMES.map(name => [
        name,
        new ApiFunction(this, titled(name), {
          name,
          functionClass: FUNCTION_CLASSES[name],
          code: codeOf(name),
          place,
          reservedConcurrency: name === 'query' || name === 'maintenance' ? reserved?.[name] : undefined,
        }).lambda,
      ]),
    ) as Record<FunctionName, ApiFunction['lambda']>;
    const { authorization } = settings;
    const authorizers = createAuthorizers(this, { authorization, code: code.authorizer, place });
    const http = new LogboomApi(this, 'Http', {
      functions,
      authorizer: authorizers.http,
      byKey: authorizers.byKey,
      opensPaths: authorization === 'token',
      logRetention,
    });
    const failed = new FailedCalls(this, 'Failed');
    failed.takeFrom(functions.maintenance);
    addMaintenance(new Timer(this, 'Schedules', { lambda: functions.maintenance, failed }), props.schedules);
    const tail = new TailApi(this, 'Tail', {
      code: {
        'tail-connect': codeOf('tail-connect'),
        'tail-disconnect': codeOf('tail-disconnect'),
        'tail-default': codeOf('tail-default'),
        'tail-dispatch': codeOf('tail-dispatch'),
      },
      place,
      authorizer: authorizers.webSocket,
      failed,
    });
    tail.calledBy(functions.push);
    const workers = new QueryWorkers(this, 'Workers', {
      code: codeOf('query-worker'),
      place,
      reservedConcurrency: reserved?.worker,
      query: functions.query,
    });
    const queues = [failed.queue];
    const watched: Record<string, ApiFunction['lambda']> = {
      ...functions,
      ...tail.functions,
      worker: workers.lambda,
    };
    if (authorizers.lambda !== undefined) watched.authorizer = authorizers.lambda;
    new EventFunctions(this, 'Events', {
      settings: props.events,
      code,
      place,
      onFunction: (name, lambda, queue) => {
        tail.calledBy(lambda);
        watched[name] = lambda;
        queues.push(queue);
      },
    });
    const edge = settings.edge
      ? new Edge(this, 'Edge', {
          settings,
          httpHost: http.host,
          webSocketHost: tail.host,
          webSocketStage: STAGE,
          page: props.page,
          logRetention,
        })
      : undefined;
    new Watch(this, 'Watch', {
      settings,
      code: code.canary,
      place,
      http,
      baseUrl: edge?.url ?? `https://${http.host}`,
      functions: watched,
      queues,
      failed,
    });
    addOutputs(this, { settings, http, tail, edge, place });
  }

  /** Where the data lies, and what every function has. */
  private createPlace(
    { settings, configYaml, overridesObject }: LogboomStackProps,
    codeOf: (name: StackFunctionName) => string,
  ): StorePlace {
    const { kmsKeyArn } = settings;
    const key = kmsKeyArn === '' ? undefined : Key.fromKeyArn(this, 'Key', kmsKeyArn);
    const bucket = createBucket(this, { settings, key });
    const table = createTable(this, { settings, key });
    const logRetention: RetentionDays = settings.logRetentionDays;
    const emptied =
      settings.removal === 'destroy'
        ? new BucketContent(this, 'ChunksContent', { bucket, code: codeOf('bucket-content'), logRetention })
        : undefined;
    const environment = {
      LOGBOOM_AUTHORIZATION: settings.authorization,
      ...(configYaml === '' ? {} : { LOGBOOM_CONFIG_YAML: configYaml }),
    };
    return { bucket, table, key, overridesObject, environment, logRetention, outlivedBy: emptied };
  }
}

function titled(name: string): string {
  return name[0].toUpperCase() + name.slice(1);
}
