/** The services that have logs in a range, the largest first. */
import { askVolume, type Range } from './queries.ts';
import { type Asked, useAsk } from './use-ask.ts';

export interface Service {
  readonly name: string;
  readonly bytes: number;
}

/** The label that the store gives to each stream that has none (discover_service_name). */
export const SERVICE_LABEL = 'service_name';
const MAX_SERVICES = 60;

/** @param range undefined while nobody looks at them */
export function useServices(range: Range | undefined): Asked<readonly Service[] | undefined> {
  return useAsk(
    async signal => {
      if (range === undefined) return undefined;
      const asked = { selector: `{${SERVICE_LABEL}=~".+"}`, by: [SERVICE_LABEL], limit: MAX_SERVICES };
      const volumes = await askVolume({ ...asked, ...range }, signal);
      return volumes.map(({ labels, bytes }) => ({ name: labels[SERVICE_LABEL] ?? '', bytes }));
    },
    [range],
  );
}
