/** What may be wider than the screen scrolls in a place of its own, by keys too. */
import type { ComponentChildren } from 'preact';

export function ScrollAcross({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it with the arrow keys
    <section class="table-scroll" aria-label={name} tabIndex={0}>
      {children}
    </section>
  );
}
