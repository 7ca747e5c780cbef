/** Progress of a delete request in words, and the list filter. */
import type { DeleteRequest } from '../../api/deletes-types.ts';

export type DeleteState = 'waiting' | 'working' | 'processed';
export type DeleteListFilter = 'all' | 'open' | 'processed';

export function stateOfDelete({ pickedUpMs, processedMs }: DeleteRequest): DeleteState {
  if (processedMs !== undefined) return 'processed';
  return pickedUpMs === undefined ? 'waiting' : 'working';
}

export function deleteFilterOf(text: string | undefined): DeleteListFilter {
  return text === 'open' || text === 'processed' ? text : 'all';
}

export function shownDeletes(
  requests: readonly DeleteRequest[],
  filter: DeleteListFilter,
): readonly DeleteRequest[] {
  if (filter === 'all') return requests;
  return requests.filter(request => (stateOfDelete(request) === 'processed') === (filter === 'processed'));
}

interface DeleteStep {
  readonly name: string;
  /** Explanation of the step. */
  readonly means: string;
  /** Undefined until it happens. */
  readonly atMs: number | undefined;
}

/** Life of a request, from creation to end. */
export function deleteSteps({
  createdMs,
  pickedUpMs,
  sealedMs,
  processedMs,
}: DeleteRequest): readonly DeleteStep[] {
  return [
    { name: 'Created', means: 'Queries hide its lines', atMs: createdMs },
    {
      name: 'Started',
      means: 'Stored data is rewritten without its lines; canceling needs force',
      atMs: pickedUpMs,
    },
    { name: 'Sealed', means: 'Lines pushed from now on are not covered', atMs: sealedMs },
    { name: 'Processed', means: 'None of its lines is stored any more', atMs: processedMs },
  ];
}

/** True if the API refuses to cancel a request in progress without force. */
export function asksForForce(message: string): boolean {
  return /\bforce\b/.test(message);
}
