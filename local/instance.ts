/** Identity of a process among those that share the store, and how it leaves and ends. */
import { hostname } from 'node:os';
import { StorageUnavailableError } from '../shared/base/ports/storage-unavailable.ts';
import type { Log } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK } from '../shared/base/runtime/system-clock.ts';
import { componentsOf, type ProcessTarget } from '../shared/server/admin/targets.ts';
import type { InstanceControl } from '../shared/server/http/assemble-parts.ts';
import type { Members } from '../shared/storage/catalog/members.ts';
import { Membership } from '../shared/storage/catalog/membership.ts';
import { runInBackground } from './background.ts';

interface InstanceOptions {
  readonly members: Members;
  readonly target: ProcessTarget;
  /** Port that the process listens on. */
  readonly port: number;
  readonly log: Log;
}

export interface Instance extends InstanceControl {
  /** Rejects if the store fails. */
  join(): Promise<void>;
  /** Announces that the process stops. A failure is logged. */
  leaving(): Promise<void>;
  /** Stops the heartbeats. */
  end(): Promise<void>;
}

export function createInstance({ members, target, port, log }: InstanceOptions): Instance {
  const address = `${hostname()}:${port}`;
  const membership = new Membership({
    members,
    clock: SYSTEM_CLOCK,
    // The ID stays the same after a restart, so that a dead process does not appear next to its replacement.
    self: { id: address, address, zone: '', components: componentsOf(target) },
    log,
  });
  const ending = new AbortController();
  let beating: Promise<void> = Promise.resolve();
  const quietly = async (task: Promise<void>) => {
    await task.catch(error => log.warn({ err: error }, 'leaving the ring failed'));
  };
  return {
    instance: address,
    async join() {
      await membership.join().catch((error: unknown) => {
        // A later heartbeat joins when the disk is writable.
        if (!(error instanceof StorageUnavailableError)) throw error;
        log.warn({ err: error }, 'joining the ring failed; will retry');
      });
      const { signal } = ending;
      beating = runInBackground('ring', () => membership.keepAlive(signal), {
        clock: SYSTEM_CLOCK,
        log,
        signal,
      });
    },
    leave: () => membership.left(),
    leaving: () => quietly(membership.leaving()),
    async end() {
      ending.abort();
      await beating;
      await quietly(membership.left());
    },
    // Sends the usual signal, so that the parent process sees a normal end.
    terminate: () => void process.kill(process.pid, 'SIGTERM'),
  };
}
