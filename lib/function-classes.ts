/** Memory, timeout and rights of each function, by the cost of its routes. */
import { Duration } from 'aws-cdk-lib';
import type { FunctionName } from '../functions/groups.ts';
import { MAINTENANCE_RIGHTS, PUSH_RIGHTS, QUERY_RIGHTS, type Rights, STATUS_RIGHTS } from './rights.ts';

export interface FunctionClass {
  readonly description: string;
  readonly memoryMb: number;
  readonly timeout: Duration;
  readonly rights: Rights;
}

/** Longer than any response takes (functions/deadline.ts), and shorter than the gateway waits. */
export const API_TIMEOUT = Duration.seconds(29);
/**
 * Maximum of Lambda, because a schedule calls it and nothing waits. Requests are still answered within the
 * gateway's time.
 */
const SCHEDULED_TIMEOUT = Duration.minutes(15);

export const FUNCTION_CLASSES: Readonly<Record<FunctionName, FunctionClass>> = {
  push: {
    description: 'Stores logs',
    // One whole vCPU, because the function only decodes and compresses.
    memoryMb: 1769,
    timeout: API_TIMEOUT,
    rights: PUSH_RIGHTS,
  },
  query: {
    description: 'Reads logs',
    // Maximum for a new account; shared by footers, pages and results of one query.
    memoryMb: 3008,
    timeout: API_TIMEOUT,
    rights: QUERY_RIGHTS,
  },
  maintenance: {
    description: 'Merges chunks, writes indexes and collects garbage',
    // Merges are CPU-bound: almost two vCPUs, and memory for a page of each of up to 90 inputs.
    memoryMb: 3008,
    timeout: SCHEDULED_TIMEOUT,
    rights: MAINTENANCE_RIGHTS,
  },
  status: {
    description: 'Handles requests that need no stored data',
    memoryMb: 512,
    timeout: Duration.seconds(10),
    rights: STATUS_RIGHTS,
  },
};
