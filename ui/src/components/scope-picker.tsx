/** Services that plain words search in: all services, or the selected ones. */
import { useCallback, useState } from 'preact/hooks';
import { NOTHING_CHOSEN, selectionOf, selectorText, toggled } from '../logql/selection.ts';
import { ALL_SERVICES } from '../logql/words.ts';
import { bytesText, countText } from '../time/quantities.ts';
import { Button } from './button.tsx';
import { FindField } from './find-field.tsx';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';

interface ScopePickerProps {
  readonly scope: string;
  readonly onScope: (selector: string) => void;
  /** Services; undefined while they load. */
  readonly services: readonly { readonly name: string; readonly bytes: number }[] | undefined;
  /** Called when the list opens or closes. */
  readonly onOpen: (open: boolean) => void;
}

const LABEL = 'service_name';

export function ScopePicker({ scope, onScope, services, onOpen }: ScopePickerProps) {
  const [open, setOpen] = useState(false);
  const change = useCallback(
    (next: boolean) => {
      setOpen(next);
      onOpen(next);
    },
    [onOpen],
  );
  const close = useCallback(() => change(false), [change]);
  return (
    <Popover
      open={open}
      onClose={close}
      name="Services to search"
      align="left"
      button={
        <button type="button" class="scope-button" aria-expanded={open} onClick={() => change(!open)}>
          {scopeName(scope)}
          <Icon name="down" size={12} />
        </button>
      }
    >
      <Panel scope={scope} onScope={onScope} services={services} />
    </Popover>
  );
}

function Panel({ scope, onScope, services }: Omit<ScopePickerProps, 'onOpen'>) {
  const [part, setPart] = useState('');
  const selection = scope === ALL_SERVICES ? NOTHING_CHOSEN : selectionOf(scope);
  const chosen = selection.values.get(LABEL) ?? [];
  // Chosen services stay in the list even if the range has none of their logs.
  const names = [...new Set([...chosen, ...(services?.map(({ name }) => name) ?? [])])];
  const fitting = names.filter(name => name.toLowerCase().includes(part.toLowerCase()));
  const toggle = (name: string) => {
    const next = toggled(selection, LABEL, name);
    onScope(next.values.size === 0 && next.others.length === 0 ? ALL_SERVICES : selectorText(next));
  };
  return (
    <div class="scope-panel">
      <FindField name="Search services" value={part} onChange={setPart} />
      {services === undefined && <p class="column-hint">Loading services…</p>}
      {services !== undefined && fitting.length === 0 && <p class="column-hint">No matching services.</p>}
      <ul class="scope-services" aria-label="Services">
        {fitting.map(name => (
          <li key={name}>
            <label>
              <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
              <span>{name}</span>
              <span class="numeric soft">{bytesOf(services, name)}</span>
            </label>
          </li>
        ))}
      </ul>
      <Button
        kind="quiet"
        class="small"
        disabled={scope === ALL_SERVICES}
        onClick={() => onScope(ALL_SERVICES)}
      >
        Search all services
      </Button>
    </div>
  );
}

function bytesOf(services: ScopePickerProps['services'], name: string): string {
  const bytes = services?.find(service => service.name === name)?.bytes;
  return bytes === undefined ? '' : bytesText(bytes);
}

/**
 * Text of a scope: `All services`, `checkout`, `checkout, payment`, `12 services`, or the selector if it is
 * more complex.
 */
function scopeName(scope: string): string {
  if (scope === ALL_SERVICES) return 'All services';
  const { values, others } = selectionOf(scope);
  const chosen = values.get(LABEL);
  if (chosen === undefined || values.size > 1 || others.length > 0) return scope;
  return chosen.length <= 3 ? chosen.join(', ') : `${countText(chosen.length)} services`;
}
