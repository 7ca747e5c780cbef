/** State in one word; its color shows the same. */
export type Tone = 'good' | 'warn' | 'error' | 'busy' | 'quiet';

export function Chip({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span class={`chip ${tone}`}>
      <i aria-hidden="true" />
      {children}
    </span>
  );
}

/** Labels, each in a frame. */
export function LabelChips({ labels }: { readonly labels: Readonly<Record<string, string>> }) {
  const pairs = Object.entries(labels);
  if (pairs.length === 0) return null;
  return (
    <span class="label-chips">
      {pairs.map(([name, value]) => (
        <code key={name}>
          <span>{name}=</span>
          {value}
        </code>
      ))}
    </span>
  );
}
