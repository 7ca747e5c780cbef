/** Query, time range and run button. */

import { useCallback, useState } from 'preact/hooks';
import type { Complete } from '../../api/complete.ts';
import type { QueryMistake } from '../../api/errors.ts';
import { keysText } from '../../app/shortcuts.ts';
import { IconButton } from '../../components/button.tsx';
import { lazyPart } from '../../components/lazy-part.tsx';
import { Popover } from '../../components/popover.tsx';
import { EDITOR_ID, QueryEditor } from '../../components/query-editor.tsx';
import { RefreshSelect } from '../../components/refresh-select.tsx';
import { TimePicker } from '../../components/time-picker.tsx';
import type { SavedMenuProps } from '../../query/saved-menu.tsx';
import { closeSplit, type PaneId, splitView } from '../../state/pane.ts';
import type { RangeText, ResolvedRange } from '../../time/time-range.ts';

interface QueryBarProps {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
  readonly onRun: () => void;
  readonly loading: boolean;
  readonly mistake: QueryMistake | undefined;
  readonly complete: Complete;
  readonly range: RangeText;
  readonly resolved: ResolvedRange | undefined;
  readonly onRange: (range: RangeText) => void;
  readonly pickerOpen: boolean;
  readonly onPicker: (open: boolean) => void;
  readonly refresh: number;
  readonly live: boolean;
  readonly onRefresh: (refresh: number, live: boolean) => void;
  readonly pane: PaneId;
  /** Properties of the saved queries panel, which loads when it is opened. */
  readonly saved: Omit<SavedMenuProps, 'onClose'>;
  readonly isSplit: boolean;
}

const SavedMenu = lazyPart(async () => (await import('../../query/saved-menu.tsx')).SavedMenu);

/** Example of plain words and of LogQL. */
const PLACEHOLDER = 'connection refused, or {service_name="checkout"} |= "declined"';

export function QueryBar(props: QueryBarProps) {
  const {
    draft,
    onDraft,
    onRun,
    loading,
    mistake,
    complete,
    range,
    resolved,
    onRange,
    pickerOpen,
    onPicker,
    refresh,
    live,
    onRefresh,
    pane,
    saved,
    isSplit,
  } = props;
  const [savedOpen, setSavedOpen] = useState(false);
  const closeSaved = useCallback(() => setSavedOpen(false), []);
  return (
    <search class="query-bar">
      <QueryEditor
        value={draft}
        onChange={onDraft}
        onRun={onRun}
        mistake={mistake}
        complete={complete}
        placeholder={PLACEHOLDER}
        id={EDITOR_ID + pane}
      />
      <div class="query-tools">
        <TimePicker
          range={range}
          resolved={resolved}
          onChange={onRange}
          open={pickerOpen}
          onOpen={onPicker}
        />
        <RefreshSelect
          seconds={refresh}
          onSeconds={seconds => onRefresh(seconds, false)}
          live={live}
          onLive={() => onRefresh(0, true)}
        />
        <button
          type="button"
          class="button primary run"
          onClick={onRun}
          title={`Run query (${keysText('Mod+Enter').join(' ')})`}
        >
          {loading && <span class="spinner on-accent" />}
          Run
        </button>
        <Popover
          open={savedOpen}
          onClose={closeSaved}
          name="Saved queries"
          button={
            <IconButton
              icon="star"
              name="Save, alert, or open a saved query"
              aria-expanded={savedOpen}
              onClick={() => setSavedOpen(before => !before)}
            />
          }
        >
          <SavedMenu {...saved} onClose={closeSaved} />
        </Popover>
        {isSplit ? (
          pane === '2' && <IconButton icon="close" name="Close the second query" onClick={closeSplit} />
        ) : (
          <IconButton icon="split" name="Split view" class="only-wide" onClick={() => splitView(draft)} />
        )}
      </div>
    </search>
  );
}
