/** Note below a query of plain words: the services that it searches, and the resulting LogQL. */
import { useState } from 'preact/hooks';
import { useServices } from '../api/use-services.ts';
import { Button } from '../components/button.tsx';
import { EDITOR_ID } from '../components/query-editor.tsx';
import { ScopePicker } from '../components/scope-picker.tsx';
import { usePane } from '../state/pane.ts';
import type { QueryState } from '../state/use-query.ts';
import type { ResolvedRange } from '../time/time-range.ts';

interface QueryReadingProps {
  readonly state: QueryState;
  /** Range whose services can be chosen. */
  readonly range: ResolvedRange | undefined;
}

export function QueryReading({ state, range }: QueryReadingProps) {
  const { draftReading, setDraft, scope, changeScope } = state;
  const { id } = usePane();
  const [isOpen, setOpen] = useState(false);
  const services = useServices(isOpen ? range : undefined);
  if (draftReading.kind !== 'words') return null;
  return (
    <section class="query-reading" aria-label="How plain words are searched">
      <span class="reading-label">Searches</span>
      <ScopePicker scope={scope} onScope={changeScope} services={services.value} onOpen={setOpen} />
      <span class="reading-label">with</span>
      <code class="reading-logql">{draftReading.logql}</code>
      <Button
        kind="quiet"
        class="small"
        onClick={() => {
          setDraft(draftReading.logql);
          document.getElementById(EDITOR_ID + id)?.focus();
        }}
      >
        Edit LogQL
      </Button>
    </section>
  );
}
