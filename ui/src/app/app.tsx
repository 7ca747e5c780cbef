/** Frame of the page: the navigation rail, the current view, and the sheets over it. */
import type { ComponentType } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { refused } from '../api/client.ts';
import { Empty, Loading } from '../components/message.tsx';
import { go, hrefOf, route } from '../state/navigation.ts';
import { useStore } from '../state/use-store.ts';
import { carriedParams, VIEWS, type View } from '../views/registry.ts';
import { HelpSheet } from './help-sheet.tsx';
import { Rail } from './rail.tsx';
import { useShortcuts } from './shortcuts.ts';
import { SignInSheet } from './sign-in-sheet.tsx';
import { nextTheme } from './theme.ts';

type Sheet = 'help' | 'sign-in' | undefined;

export function App() {
  const { view: id, params } = useStore(route);
  const problem = useStore(refused);
  const [sheet, setSheet] = useState<Sheet>();
  const view = VIEWS.find(known => known.id === id);
  useShortcuts(
    useMemo(
      () => [
        { keys: '?', does: 'Show keyboard shortcuts', group: 'Page', act: () => setSheet('help') },
        { keys: 'd', does: 'Switch theme: light, dark, system', group: 'Page', act: nextTheme },
        ...VIEWS.map((target, i) => ({
          // The tenth view has the last digit key of the row, 0.
          keys: String((i + 1) % 10),
          does: `Go to ${target.title.toLowerCase()}`,
          group: 'Page',
          act: () => go(target.id, carriedParams(target, route.get())),
        })),
      ],
      [],
    ),
  );
  useEffect(() => {
    if (problem !== undefined) setSheet('sign-in');
  }, [problem]);
  useEffect(() => {
    document.title = view === undefined ? 'Logboom' : `${view.title} · Logboom`;
  }, [view]);
  const close = useMemo(
    () => () => {
      setSheet(undefined);
      refused.set(undefined);
    },
    [],
  );
  return (
    <div class="frame">
      <a class="skip" href={hrefOf(id, params)} onClick={skipToMain}>
        Skip to content
      </a>
      <Rail view={id} onHelp={() => setSheet('help')} onSignIn={() => setSheet('sign-in')} />
      <main id="main" tabIndex={-1}>
        {view === undefined ? <Missing id={id} /> : <Shown key={`${view.id} ${params.tenant}`} view={view} />}
      </main>
      {sheet === 'help' && <HelpSheet onClose={close} />}
      {sheet === 'sign-in' && <SignInSheet problem={problem} onClose={close} />}
    </div>
  );
}

/** Moves the focus to the main content. A plain link cannot, because the fragment is the route. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Missing({ id }: { readonly id: string }) {
  return (
    <Empty icon="search" title={`Page “${id}” does not exist`}>
      <p>
        <a href={hrefOf('logs')}>Open Logs</a>
      </p>
    </Empty>
  );
}

/** Loads a view when it is opened. */
function Shown({ view }: { readonly view: View }) {
  const [loaded, setLoaded] = useState<ComponentType | undefined>(() => view.component);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (loaded !== undefined) return;
    view.load?.().then(
      module => setLoaded(() => module.default),
      () => setFailed(true),
    );
  }, [view, loaded]);
  if (failed) {
    return (
      <Empty icon="refresh" title="Logboom was updated">
        <p>Reload the page to use the new version.</p>
        <button type="button" class="button primary" onClick={() => window.location.reload()}>
          Reload page
        </button>
      </Empty>
    );
  }
  if (loaded === undefined) return <Loading what="Loading" />;
  const Component = loaded;
  return <Component />;
}
