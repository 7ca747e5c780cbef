/** Field for a time that is typed, absolute or relative. */

interface TimeFieldProps {
  readonly name: string;
  readonly value: string;
  readonly wrong: boolean;
  readonly onChange: (text: string) => void;
  readonly title?: string | undefined;
}

export function TimeField({ name, value, wrong, onChange, title }: TimeFieldProps) {
  return (
    <label class="field">
      <span>{name}</span>
      <input
        class="input mono"
        value={value}
        aria-invalid={wrong}
        autocomplete="off"
        spellcheck={false}
        title={title}
        onInput={event => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
