/** Page of status panels: a title with tools, and panels below that scroll together. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useShortcuts } from '../app/shortcuts.ts';
import { IconButton } from './button.tsx';

interface PanelPageProps {
  readonly title: string;
  /** Subtitle. */
  readonly about: ComponentChildren;
  readonly onReload: () => void;
  /** Tools between the title and the reload button. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function PanelPage({ title, about, onReload, tools, children }: PanelPageProps) {
  useShortcuts(
    useMemo(() => [{ keys: 'r', does: 'Refresh', group: title, act: onReload }], [title, onReload]),
  );
  return (
    <div class="panel-page">
      <div class="panel-column">
        <header class="panel-head">
          <div class="panel-title">
            <h1>{title}</h1>
            <p class="soft">{about}</p>
          </div>
          <div class="panel-tools">
            {tools}
            <IconButton icon="refresh" name="Refresh" onClick={onReload} />
          </div>
        </header>
        {children}
      </div>
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  /** Content next to the title: numbers, a choice. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** Panel of such a page. */
export function Panel({ title, aside, children, class: more = '' }: PanelProps) {
  return (
    <section class={`card panel ${more}`} aria-label={title}>
      <header class="panel-part">
        <h2>{title}</h2>
        {aside !== undefined && <div class="panel-aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}
