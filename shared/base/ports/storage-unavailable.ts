/**
 * Reason why storage cannot be written or read: the state of the store's disk, if it has one. Both ports
 * throw it, and clients see the message.
 */
export type StorageProblem = 'full' | 'read-only' | 'failing';

const MESSAGES: Readonly<Record<StorageProblem, string>> = {
  full: 'the disk of the store is full: it takes no new entries until there is space again',
  'read-only': 'the disk of the store is read-only: nothing can be written until it is writable again',
  failing: 'the disk of the store failed: retry later; the log of the store has the reason',
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
