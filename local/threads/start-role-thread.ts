/** Starts role threads, and passes requests to the threads of a pool. */
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { movableMemory } from '../gateway-body.ts';
import type { StorageOptions } from '../storage.ts';
import type { PlainRequest, RoleAnswer, RoleCall, RoleData } from './role-messages.ts';
import type { Role } from './roles.ts';
import { ThreadClient, type ThreadHub, type ThreadOptions } from './thread-client.ts';
import { threadEntry } from './thread-entry.ts';
import { lostOf, ThreadLostError } from './thread-errors.ts';
import type { ThreadLog } from './thread-log.ts';

export type RoleThread = ThreadClient<RoleCall, RoleAnswer>;

/**
 * Replaced file of the role threads, for example with a smaller heap and a faster reaction to a hanging
 * thread.
 */
export type ReplacedThreads = Pick<ThreadOptions, 'entry' | 'maxHeapMb' | 'times'>;

interface RoleThreadOptions {
  readonly role: Role;
  readonly index: number;
  /** Creates the start data at each start. */
  readonly data: () => RoleData;
  readonly hub: ThreadHub;
  readonly log: Pick<ThreadLog, 'debug' | 'error'>;
  /** Called when the thread ended unexpectedly. Must not throw. */
  readonly onLost?: () => void;
  /** Replacements for tests in which threads fail. */
  readonly replaced?: ReplacedThreads | undefined;
}

/** Heap of a thread, MiB: labels and texts of pushes; series and entries of queries; footers of merges. */
const HEAP_MB: Readonly<Record<Role, number>> = { ingest: 512, query: 1024, upkeep: 1024 };

export function startRoleThread({
  role,
  index,
  data,
  hub,
  log,
  onLost,
  replaced,
}: RoleThreadOptions): RoleThread {
  const name = `${role}-${index}`;
  return new ThreadClient<RoleCall, RoleAnswer>({
    name,
    entry: threadEntry('role-thread'),
    data,
    maxHeapMb: HEAP_MB[role],
    ...replaced,
    hub,
    onReady: () => log.debug({ thread: name }, 'thread ready'),
    onLost: error => {
      log.error({ err: error, thread: name }, 'thread ended; restarting it');
      onLost?.();
    },
  });
}

/** The part of a request that the thread receives. */
export function requestCall({ signal: _, ...plain }: HttpRequest): RoleCall {
  return { kind: 'request', request: plain satisfies PlainRequest };
}

/**
 * Handles a request that writes without a retry, because it may have completed: the client repeats it. A push
 * cannot be retried anyway, because it is decoded inside its body, and a large body is moved to the thread.
 *
 * @param threads selects the thread for the request
 */
export async function answerOnce(
  threads: { readonly pick: (request: HttpRequest) => RoleThread },
  request: HttpRequest,
): Promise<HttpResponse> {
  try {
    const memory = movableMemory(request.body);
    const options = { signal: request.signal, moved: memory && [memory] };
    return (await threads.pick(request).call(requestCall(request), options)).response!;
  } catch (error) {
    throw error instanceof ThreadLostError ? lostOf(error) : error;
  }
}

/**
 * Pushes that run concurrently according to admission control. Each mostly waits until it is durable. On a disk
 * that takes a few milliseconds. An object store takes 75 to 150 ms, so a thread that can process 1,500 small
 * pushes a second is busy only with 200 of them under way. The budget of pushes bounds their memory.
 */
export function pushSlotsOf(ingestThreads: number, { kind }: Pick<StorageOptions, 'kind'>): number {
  const perThread = kind === 'embedded' ? 64 : 256;
  return perThread * ingestThreads;
}
