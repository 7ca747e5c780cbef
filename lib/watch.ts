/** Monitoring of the store: canary, alarms, recipients, and dashboard. */
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import type { SharedFunctionProps } from './api-function.ts';
import { Canary } from './canary.ts';
import { createDashboard } from './dashboard.ts';
import type { LogboomApi } from './http-api.ts';
import type { FailedCalls } from './schedules.ts';
import { isWanted, type Settings } from './settings.ts';
import type { WriteService } from './write-service.ts';

interface WatchProps {
  readonly settings: Settings;
  /** Bundle folder of the canary; undefined if it is disabled. */
  readonly code: string | undefined;
  readonly shared: SharedFunctionProps;
  readonly http: LogboomApi;
  readonly baseUrl: string;
  /** Serving functions by name. */
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  /** Accepts pushes instead of the push function. */
  readonly write: WriteService | undefined;
  /** Queues of failed calls. */
  readonly queues: readonly Queue[];
  readonly failed: FailedCalls;
}

export class Watch extends Construct {
  constructor(scope: Construct, id: string, props: WatchProps) {
    super(scope, id);
    const { settings, code, shared, http, baseUrl, functions, write, queues, failed } = props;
    const { logRetention, table } = shared;
    const canary =
      code === undefined
        ? undefined
        : new Canary(this, 'Canary', { settings, code, http, baseUrl, failed, logRetention }).lambda;
    const { apiId } = http;
    if (isWanted(settings, 'alarms')) {
      const tellsBacklog = isWanted(settings, 'metrics');
      const { all } = new Alarms(this, 'Alarms', { functions, write, queues, apiId, canary, tellsBacklog });
      const topic = this.#topicOf(settings);
      if (topic !== undefined) for (const alarm of all) alarm.addAlarmAction(new SnsAction(topic));
    }
    if (isWanted(settings, 'dashboard')) createDashboard(this, { functions, queues, table, apiId, canary });
  }

  /** Topic without the AWS key for SNS, because alarms could not send to it. Alarms contain no secrets. */
  #topicOf({ alarmTopicArn, alarmEmail }: Settings): ITopic | undefined {
    if (alarmTopicArn !== '') return Topic.fromTopicArn(this, 'GivenTopic', alarmTopicArn);
    if (alarmEmail === '') return undefined;
    const topic = new Topic(this, 'Topic', { displayName: 'Logboom alarms', enforceSSL: true });
    topic.addSubscription(new EmailSubscription(alarmEmail));
    return topic;
  }
}
