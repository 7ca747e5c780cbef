import { expect, test } from '@jest/globals';
import { classify } from '../../shared/aws/errors.ts';

const service = (name: string, status: number, more: object = {}): unknown =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status }, ...more });
const system = (code: string): unknown => Object.assign(new Error(code), { code });
const canceled = (...codes: string[]): unknown =>
  service('TransactionCanceledException', 400, { CancellationReasons: codes.map(Code => ({ Code })) });

// [error, kind, may have happened]
const TABLE: [unknown, string, boolean][] = [
  [service('SlowDown', 503), 'throttled', false],
  [service('ServiceUnavailable', 503), 'throttled', true],
  [service('Unknown', 429), 'throttled', false],
  [service('ProvisionedThroughputExceededException', 400), 'throttled', false],
  [service('ThrottlingException', 400), 'throttled', false],
  [service('RequestLimitExceeded', 400), 'throttled', false],
  [service('ConditionalRequestConflict', 409), 'conflict', false],
  [service('OperationAborted', 409), 'conflict', false],
  [service('TransactionConflictException', 400), 'conflict', false],
  [service('TransactionInProgressException', 400), 'conflict', false],
  [canceled('None', 'TransactionConflict'), 'conflict', false],
  [canceled('TransactionConflict', 'ThrottlingError'), 'throttled', false],
  [canceled('ProvisionedThroughputExceeded'), 'throttled', false],
  [canceled('None', 'ItemCollectionSizeLimitExceeded'), 'final', false],
  [service('InternalError', 500), 'transient', true],
  [service('InternalServerError', 500), 'transient', true],
  [service('Unknown', 502), 'transient', true],
  [service('RequestTimeout', 400), 'transient', true],
  [
    service('RequestTimeTooSkewed', 403, { $metadata: { httpStatusCode: 403, clockSkewCorrected: true } }),
    'transient',
    false,
  ],
  [service('RequestTimeTooSkewed', 403), 'final', false],
  [service('AccessDenied', 403), 'final', false],
  [service('NoSuchBucket', 404), 'final', false],
  [service('ValidationException', 400), 'final', false],
  [system('ECONNRESET'), 'transient', true],
  [system('EPIPE'), 'transient', true],
  [system('ECONNREFUSED'), 'transient', false],
  [system('EAI_AGAIN'), 'transient', false],
  [system('ENOTFOUND'), 'final', true],
  [Object.assign(new Error(), { name: 'TimeoutError' }), 'transient', true],
  [new TypeError('a defect'), 'final', true],
  [undefined, 'final', true],
];

test('classifies errors of the SDK', () => {
  for (const [error, kind, mayHaveHappened] of TABLE)
    expect([error, classify(error)]).toEqual([error, { kind, mayHaveHappened }]);
});
