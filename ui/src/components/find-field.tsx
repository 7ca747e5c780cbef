/** Search field for a list that is already loaded. */
import { Icon } from './icon.tsx';

interface FindFieldProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function FindField({ name, value, onChange }: FindFieldProps) {
  return (
    <label class="find-field">
      <Icon name="search" size={14} />
      <span class="hidden">{name}</span>
      <input
        class="input"
        type="search"
        value={value}
        placeholder={name}
        spellcheck={false}
        autocomplete="off"
        onInput={event => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
