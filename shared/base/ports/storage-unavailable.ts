/**
 * Reason why storage cannot be written or read: the state of the store's disk, if it has one. Both ports
 * throw it, and clients see the message.
 */
export type StorageProblem = 'full' | 'read-only' | 'failing';

const MESSAGES: Readonly<Record<StorageProblem, string>> = {
  full: 'the disk of the store is full: entries are refused until there is space; free some, then retry',
  'read-only': 'the disk of the store is read-only: entries are refused until it is writable; retry later',
  failing: 'the disk of the store failed: for the reason, see the log of the store; retry later',
};

const PROBLEMS = Object.keys(MESSAGES) as StorageProblem[];

export class StorageUnavailableError extends Error {
  constructor(problem: StorageProblem, options?: ErrorOptions) {
    super(MESSAGES[problem], options);
    this.name = 'StorageUnavailableError';
  }

  /** Derived from the message, the only part of an error that survives the way from another thread. */
  get problem(): StorageProblem | undefined {
    return PROBLEMS.find(problem => MESSAGES[problem] === this.message);
  }
}

export function storageMessage(problem: StorageProblem): string {
  return MESSAGES[problem];
}
