/** Services with logs in a range, as links to their logs. */
import type { LogService } from '../api/use-services.ts';
import { bytesText } from '../time/quantities.ts';

interface ServiceListProps {
  readonly services: readonly LogService[];
  readonly onService: (name: string) => void;
}

export function ServiceList({ services, onService }: ServiceListProps) {
  const largest = services[0]?.bytes ?? 1;
  return (
    <ul class="services">
      {services.map(({ name, bytes }) => (
        <li key={name}>
          <button type="button" class="service card" onClick={() => onService(name)}>
            <span class="service-name">{name}</span>
            <span class="service-bytes numeric">{bytesText(bytes)}</span>
            <span class="service-bar">
              <i style={{ width: `${Math.max(1, (bytes / largest) * 100)}%` }} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
