/** Empty state of a view that needs a query: services to choose from. */
import { SERVICE_LABEL, useServices } from '../api/use-services.ts';
import { quoted } from '../logql/tokens.ts';
import type { ResolvedRange } from '../time/time-range.ts';
import { ServiceList } from './service-list.tsx';

interface ChooseServiceProps {
  readonly range: ResolvedRange | undefined;
  readonly onQuery: (query: string) => void;
}

export function ChooseService({ range, onQuery }: ChooseServiceProps) {
  const { value } = useServices(range);
  if (value === undefined || value.length === 0) return null;
  return (
    <section class="choose-service" aria-label="Services">
      <ServiceList services={value} onService={name => onQuery(`{${SERVICE_LABEL}=${quoted(name)}}`)} />
    </section>
  );
}
