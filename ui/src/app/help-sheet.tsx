/** Lists all keyboard shortcuts that are active. */
import { Dialog } from '../components/dialog.tsx';
import { useStore } from '../state/use-store.ts';
import { keysText, shortcuts } from './shortcuts.ts';

export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const groups = Map.groupBy(useStore(shortcuts), ({ group }) => group);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="shortcut-groups">
        {[...groups].map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {list.map(({ keys, does }) => (
                <div key={keys}>
                  <dt>{does}</dt>
                  <dd>
                    {keysText(keys).map(key => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
