/**
 * Reasons for ending a tail, sent when the connection is closed (docs/dev/wire-format.md#after-the-upgrade).
 */
import type { ClientError } from '../../base/model/errors.ts';

export const CLOSE_ERROR = 1011;
/** Clients of the reference reconnect at once if they receive exactly this text. */
export const MAX_DURATION_REACHED = 'reached tail max duration limit';
export const FELL_BEHIND = 'the tail fell behind what was pushed; connect again';
export const TAKES_NOTHING = 'the client does not read';
export const INTERNAL = 'internal error';

/**
 * Formats an error as the reference does once the connection is open
 * (docs/dev/wire-format.md#after-the-upgrade).
 */
export function refusalOf({ status, message }: ClientError): string {
  return `rpc error: code = Code(${status}) desc = ${message}`;
}
