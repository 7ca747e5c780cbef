/** Memory, time and rights of each function, by what its routes may cost. */
import { Duration } from 'aws-cdk-lib';
import type { FunctionName } from '../functions/groups.ts';
import { MAINTENANCE_RIGHTS, PUSH_RIGHTS, QUERY_RIGHTS, type Rights, STATUS_RIGHTS } from './rights.ts';

export interface FunctionClass {
  readonly description: string;
  readonly memoryMb: number;
  readonly timeout: Duration;
  readonly rights: Rights;
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
    rights: PUSH_RIGHTS,
  },
  query: {
    description: 'Reads logs',
    // The most that a new account may ask for; footers, pages and results of one query share it.
    memoryMb: 3008,
    timeout: API_TIMEOUT,
    rights: QUERY_RIGHTS,
  },
  maintenance: {
    description: 'Packs, indexes and collects what is stored',
    // Merging is bound by the processor: almost two of them, and a page of each of up to 90 inputs.
    memoryMb: 3008,
    timeout: SCHEDULED_TIMEOUT,
    rights: MAINTENANCE_RIGHTS,
  },
  status: {
    description: 'Answers what needs no stored data',
    memoryMb: 512,
    timeout: Duration.seconds(10),
    rights: STATUS_RIGHTS,
  },
};
