/**
 * The one function that a schedule calls each minute (functions/timer-handler.ts), and its right to call the functions that do
 * what is due. A schedule for each job would call them 233,000 times a month, whether there is work or not.
 */
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { TimerEvent } from '../functions/timer-handler.ts';
import { ApiFunction, type StorePlace } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import { TIMER_RIGHTS } from './rights.ts';
import { type FailedCalls, Timer } from './schedules.ts';
import type { Endpoint } from './settings.ts';

export const TIMER_CLASS: FunctionClass = {
  description: 'Looks at what is due',
  // A dozen small reads and some calls: it waits, mostly.
  memoryMb: 256,
  timeout: Duration.seconds(30),
  rights: TIMER_RIGHTS,
};

export interface DueWorkProps {
  readonly code: string;
  readonly place: StorePlace;
  readonly failed: FailedCalls;
  readonly maintenance: ApiFunction['lambda'];
  /** Undefined: there are no live tails. */
  readonly tailDispatch: ApiFunction['lambda'] | undefined;
  /** Emulators that know no other endpoint know no EventBridge Scheduler either, but rules of EventBridge. */
  readonly endpoint: Endpoint;
}

const EVERY = Duration.minutes(1);
/** The Scheduler puts the time of the call there. */
const SCHEDULED_TIME: TimerEvent = { time: '<aws.scheduler.scheduled-time>' };

export class DueWork extends Construct {
  readonly lambda: ApiFunction['lambda'];

  constructor(scope: Construct, id: string, props: DueWorkProps) {
    super(scope, id);
    const { code, place, failed, maintenance, tailDispatch, endpoint } = props;
    const { lambda } = new ApiFunction(this, 'Timer', {
      name: 'timer',
      functionClass: TIMER_CLASS,
      code,
      place,
      environment: {
        LOGBOOM_MAINTENANCE_FUNCTION: maintenance.functionName,
        ...(tailDispatch === undefined ? {} : { LOGBOOM_TAIL_FUNCTION: tailDispatch.functionName }),
      },
    });
    const called = tailDispatch === undefined ? [maintenance] : [maintenance, tailDispatch];
    const resources = called.map(({ functionArn }) => functionArn);
    lambda.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    // A call that comes late looks at what is due then.
    failed.takeFrom(lambda, EVERY);
    if (endpoint === 'function-url') this.#addRule(lambda);
    else {
      const description = 'looks at what is due';
      const everyMs = EVERY.toMilliseconds();
      new Timer(this, 'Schedules', { lambda, failed }).add('Minute', {
        description,
        everyMs,
        event: SCHEDULED_TIME,
      });
    }
    this.lambda = lambda;
  }

  #addRule(lambda: ApiFunction['lambda']): void {
    new Rule(this, 'Minute', {
      description: 'Logboom: looks at what is due',
      schedule: Schedule.rate(EVERY),
      // The rule's own event says when it was due. LocalStack does not send an empty one.
      targets: [new LambdaTarget(lambda)],
    });
  }
}
