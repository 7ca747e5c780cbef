/** Scrolls wide content horizontally, with keys too. */
import type { ComponentChildren } from 'preact';

export function ScrollAcross({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: users without a pointer scroll it with the arrow keys
    <section class="table-scroll" aria-label={name} tabIndex={0}>
      {children}
    </section>
  );
}
