/** Decides what status endpoints refer to: this process, or all function instances of the store. */

import type { Config } from '../admin/config-fields.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import { Shutdown } from '../admin/shutdown.ts';
import { assembleFleet } from './assemble-fleet.ts';
import type { ContextParts, InstanceControl } from './assemble-parts.ts';
import type { HttpContext, LogLevelSetting } from './context.ts';

interface StatusSources
  extends Pick<
    ContextParts,
    'config' | 'catalog' | 'clock' | 'isFleet' | 'instance' | 'logLevel' | 'metricsText'
  > {
  readonly registry: MetricsRegistry;
  /** Compacts pushed data before a shutdown. */
  readonly flush: () => Promise<void>;
}

type StatusServices = Pick<HttpContext, 'shutdown' | 'logLevel' | 'metricsText'>;

export function assembleStatus(sources: StatusSources): StatusServices {
  const { config, catalog, clock, registry, flush } = sources;
  const logLevel = sources.logLevel ?? levelOf(config);
  if (sources.isFleet === true) return assembleFleet({ catalog, clock, registry, logLevel, flush });
  return {
    shutdown: new Shutdown({ ...(sources.instance ?? NO_INSTANCE), states: catalog.states, flush }),
    logLevel,
    metricsText: sources.metricsText ?? (() => registry.text()),
  };
}

function levelOf({ server }: Config): LogLevelSetting {
  let level = server.logLevel;
  return {
    get: async () => level,
    set: async wanted => {
      level = wanted;
    },
  };
}

const NO_INSTANCE: InstanceControl = {
  instance: 'process',
  leave: async () => undefined,
  terminate: () => undefined,
};
