/**
 * Query editor. A plain text area with the editor's colors works immediately. CodeMirror is larger than the rest of the page, so
 * it loads when the user points at the text area or focuses it, and then takes over text, selection and focus.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleLines } from '../../../shared/base/model/visible-text.ts';
import type { QueryMistake } from '../api/errors.ts';
import { ALL_SERVICES, readQuery } from '../logql/words.ts';
import type { CodeEditor, Completions } from './code-editor.ts';
import { QueryText } from './query-text.tsx';

export interface QueryEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onRun: () => void;
  /** Mistake to underline, with its message. */
  readonly mistake: QueryMistake | undefined;
  readonly complete: (query: string, cursor: number) => Promise<Completions | undefined>;
  readonly placeholder: string;
  /** Element ID, if there are two editors. Default: EDITOR_ID. */
  readonly id?: string;
}

/** Maximum number of key presses between two renderings of the page. */
const MAX_ECHOES = 100;

/** Element ID of the editor, to focus it. */
export const EDITOR_ID = 'query-editor';

/** Plain words are one line, so Enter runs them. */
function isWords(text: string): boolean {
  return readQuery(text, ALL_SERVICES).kind === 'words';
}

export function QueryEditor(props: QueryEditorProps) {
  const { value, onChange, onRun, mistake, placeholder, id = EDITOR_ID } = props;
  const frame = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<CodeEditor | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  /**
   * Texts that the editor reported and that have not come back as `value` yet. By then, the user may have
   * typed more.
   */
  const written = useRef<string[]>([]);
  const [ready, setReady] = useState(false);
  const [used, setUsed] = useState(false);
  const use = () => setUsed(true);
  const isPlain = visibleLines(value) === value;
  // Only the editor shows such characters by name, and underlines mistakes. It stays when both are gone.
  useEffect(() => {
    if (!isPlain || mistake !== undefined) setUsed(true);
  }, [isPlain, mistake]);

  useEffect(() => {
    if (!used) return;
    let ended = false;
    import('./code-editor.ts').then(
      ({ createCodeEditor }) => {
        if (ended || host.current === null) return;
        const before = area.current;
        const hadFocus = before !== null && document.activeElement === before;
        editor.current = createCodeEditor(host.current, {
          value: before?.value ?? latest.current.value,
          selection: { anchor: before?.selectionStart ?? 0, head: before?.selectionEnd ?? 0 },
          placeholder,
          onChange: text => {
            written.current = [...written.current.slice(-MAX_ECHOES), text];
            latest.current.onChange(text);
          },
          onRun: () => latest.current.onRun(),
          runsOnEnter: isWords,
          complete: (query, cursor) => latest.current.complete(query, cursor),
        });
        editor.current.setMistake(latest.current.mistake);
        setReady(true);
        if (hadFocus) editor.current.focus();
      },
      // If loading fails, the text area stays.
      () => undefined,
    );
    return () => {
      ended = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [placeholder, used]);
  useEffect(() => {
    if (value === written.current.at(-1)) written.current = [];
    else if (!written.current.includes(value)) editor.current?.setValue(value);
  });
  useEffect(() => editor.current?.setMistake(mistake), [mistake]);

  useEffect(() => {
    const element = frame.current!;
    const focus = () => (editor.current === undefined ? area.current : editor.current)?.focus();
    element.addEventListener('focus', focus);
    return () => element.removeEventListener('focus', focus);
  }, []);
  return (
    <div
      ref={frame}
      class="query-editor"
      id={id}
      data-ready={ready}
      tabIndex={-1}
      onFocusIn={use}
      onPointerEnter={use}
    >
      <div ref={host} class="code-host" />
      {!ready && isPlain && (
        <div class="query-area query-colors" aria-hidden="true">
          <QueryText query={value} />
        </div>
      )}
      {!ready && (
        <textarea
          ref={area}
          class={`query-area ${isPlain ? 'under-colors' : ''}`}
          aria-label="LogQL query"
          rows={Math.max(1, value.split('\n').length)}
          value={value}
          placeholder={placeholder}
          spellcheck={false}
          autocomplete="off"
          onInput={event => onChange(event.currentTarget.value)}
          onKeyDown={event => {
            const runs = event.ctrlKey || event.metaKey || (!event.shiftKey && isWords(value));
            if (event.key !== 'Enter' || !runs) return;
            event.preventDefault();
            onRun();
          }}
        />
      )}
    </div>
  );
}
