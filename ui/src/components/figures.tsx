/** Key figures of a view. */
import type { ComponentChildren } from 'preact';

interface FigureProps {
  readonly name: string;
  readonly value: ComponentChildren;
  /** Small text below the value. */
  readonly note?: ComponentChildren;
  readonly tone?: 'good' | 'warn' | 'error';
}

export function Figures({ figures }: { readonly figures: readonly FigureProps[] }) {
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
