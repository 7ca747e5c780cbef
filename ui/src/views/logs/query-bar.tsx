/** The query, the time, and the button that asks. */

import type { Complete } from '../../api/complete.ts';
import type { QueryMistake } from '../../api/errors.ts';
import { keysText } from '../../app/shortcuts.ts';
import { IconButton } from '../../components/button.tsx';
import { EDITOR_ID, QueryEditor } from '../../components/query-editor.tsx';
import { TimePicker } from '../../components/time-picker.tsx';
import { closeSplit, type PaneId, splitView } from '../../state/pane.ts';
import type { RangeText, ResolvedRange } from '../../time/time-range.ts';

export interface QueryBarProps {
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
  readonly pane: PaneId;
  readonly isSplit: boolean;
}

/** Words or LogQL. */
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
    pane,
    isSplit,
  } = props;
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
        <button
          type="button"
          class="button primary run"
          onClick={onRun}
          title={`Run the query (${keysText('Mod+Enter').join(' ')})`}
        >
          {loading && <span class="spinner on-accent" />}
          Run
        </button>
        {isSplit ? (
          pane === '2' && <IconButton icon="close" name="Close the second query" onClick={closeSplit} />
        ) : (
          <IconButton icon="split" name="Split view" class="only-wide" onClick={() => splitView(draft)} />
        )}
      </div>
    </search>
  );
}
