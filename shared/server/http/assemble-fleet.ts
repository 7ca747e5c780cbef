/**
 * Services of status endpoints if function instances serve the store. They refer to all instances, not to the
 * serving one.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { fleetText } from '../admin/fleet-figures.ts';
import { FleetShutdown } from '../admin/fleet-shutdown.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import { changeSharedSettings, readSharedSettings } from '../admin/shared-settings.ts';
import type { Shutdown } from '../admin/shutdown.ts';
import type { HttpContext, LogLevelSetting } from './context.ts';

interface FleetSources {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly registry: MetricsRegistry;
  /** Level of this instance: the configured one until an operator sets another. */
  readonly logLevel: LogLevelSetting;
  readonly flush: ConstructorParameters<typeof Shutdown>[0]['flush'];
}

export function assembleFleet(
  sources: FleetSources,
): Pick<HttpContext, 'shutdown' | 'logLevel' | 'metricsText'> {
  const { catalog, clock, registry, logLevel: own, flush } = sources;
  const { members, states } = catalog;
  return {
    shutdown: new FleetShutdown({ states, members, clock, flush }),
    logLevel: {
      get: async () => (await readSharedSettings(states)).logLevel ?? own.get(),
      async set(logLevel) {
        await changeSharedSettings(states, { logLevel });
        await own.set(logLevel);
      },
    },
    metricsText: async () => fleetText(members.instances, await registry.text()),
  };
}
