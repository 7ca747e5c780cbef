/** The few numbers of a view that count most, side by side. */
import type { ComponentChildren } from 'preact';

export interface Figure {
  readonly name: string;
  readonly value: ComponentChildren;
  /** Below the value, small. */
  readonly note?: ComponentChildren;
  readonly tone?: 'good' | 'warn' | 'error';
}

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, note, tone }) => (
        <div key={name} class="figure">
          <dt>{name}</dt>
          <dd class={`figure-value numeric ${tone ?? ''}`}>{value}</dd>
          {note !== undefined && <dd class="figure-note numeric">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
