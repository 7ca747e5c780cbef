/** Bar at the top of a view with a query: the editor, and the view's controls. */
import type { ComponentChildren } from 'preact';
import { QueryEditor, type QueryEditorProps } from './query-editor.tsx';

interface QueryLineProps extends Omit<QueryEditorProps, 'value' | 'onChange'> {
  readonly draft: string;
  readonly onDraft: (draft: string) => void;
  readonly children: ComponentChildren;
}

export function QueryLine({ draft, onDraft, children, ...editor }: QueryLineProps) {
  return (
    <search class="query-bar">
      <QueryEditor value={draft} onChange={onDraft} {...editor} />
      <div class="query-tools">{children}</div>
    </search>
  );
}
