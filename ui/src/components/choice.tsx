/** Segmented control for a few options. */
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

interface ChoiceProps<T extends string> {
  readonly name: string;
  readonly options: readonly { readonly value: T; readonly label: string; readonly icon?: IconName }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

export function Choice<T extends string>({ name, options, value, onChange }: ChoiceProps<T>) {
  const group = useId();
  return (
    <fieldset class="choice">
      <legend class="hidden">{name}</legend>
      {options.map(option => (
        <label key={option.value} class={option.value === value ? 'chosen' : ''}>
          <input
            type="radio"
            name={group}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.icon !== undefined && <Icon name={option.icon} size={14} />}
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
