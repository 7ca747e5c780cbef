/**
 * CodeMirror for LogQL: highlighting, completion, underlined mistakes. It is in a shadow tree, where it uses
 * constructed style sheets. The page's content security policy allows those, but not a `<style>` element.
 */
import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, placeholder } from '@codemirror/view';
import { visible } from '../../../shared/base/model/visible-text.ts';
import type { QueryMistake } from '../api/errors.ts';
import { editorTheme } from './code-editor-theme.ts';
import { logqlHighlighting } from './logql-highlighting.ts';

export interface Offer {
  readonly label: string;
  /** Text next to the label. */
  readonly detail?: string;
  readonly kind: 'label' | 'value' | 'field' | 'function' | 'stage' | 'text';
  /** Text to insert instead of the label; `¦` marks the cursor position. */
  readonly writes?: string;
  /** Opens the next completion after this one is accepted. */
  readonly goesOn?: boolean;
}

export interface Completions {
  /** Start of the text that a completion replaces, up to the cursor. */
  readonly from: number;
  readonly offers: readonly Offer[];
}

interface CodeEditorOptions {
  readonly value: string;
  /** Offsets in the value. */
  readonly selection: { readonly anchor: number; readonly head: number };
  readonly placeholder: string;
  readonly onChange: (value: string) => void;
  readonly onRun: () => void;
  /** True if Enter runs this text; otherwise Enter inserts a line break. */
  readonly runsOnEnter: (text: string) => boolean;
  readonly complete: (query: string, cursor: number) => Promise<Completions | undefined>;
}

export interface CodeEditor {
  setValue(value: string): void;
  setMistake(mistake: QueryMistake | undefined): void;
  focus(): void;
  destroy(): void;
}

export function createCodeEditor(host: HTMLElement, options: CodeEditorOptions): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  /** True while a change comes from the page, which must not be reported back. */
  let given = false;
  const run = () => {
    options.onRun();
    return true;
  };
  const source = async (context: CompletionContext) => {
    const found = await options.complete(context.state.doc.toString(), context.pos);
    if (found === undefined || found.offers.length === 0 || context.aborted) return null;
    return { from: found.from, options: found.offers.map(completionOf), validFor: /^[\w.:/-]*$/ };
  };
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: options.value,
      selection: options.selection,
      extensions: [
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Tab', run: acceptCompletion },
          ]),
        ),
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          { key: 'Enter', run: ({ state }) => options.runsOnEnter(state.doc.toString()) && run() },
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        history(),
        drawSelection(),
        highlightSpecialChars({ addSpecialChars: TURNING, render: namedCharacter }),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ override: [source], icons: false, activateOnTypingDelay: 60 }),
        logqlHighlighting,
        placeholder(options.placeholder),
        EditorView.lineWrapping,
        editorTheme,
        EditorView.contentAttributes.of({ 'aria-label': 'LogQL query', spellcheck: 'false' }),
        EditorView.updateListener.of(update => {
          if (update.docChanged && !given) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setValue(value) {
      const { doc } = view.state;
      if (value === doc.toString()) return;
      given = true;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: value } });
      given = false;
    },
    setMistake(mistake) {
      view.dispatch(
        setDiagnostics(view.state, mistake === undefined ? [] : [diagnosticOf(mistake, view.state)]),
      );
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** Diagnostic for the word at the mistake, or for the text before the end if the query is incomplete. */
function diagnosticOf({ from, message }: QueryMistake, state: EditorState): Diagnostic {
  const { length } = state.doc;
  const start = Math.max(0, Math.min(from, length - 1));
  const word = state.wordAt(start);
  return {
    from: word?.from ?? start,
    to: word?.to ?? Math.min(start + 1, length),
    severity: 'error',
    message,
  };
}

/** Directional characters, which the editor does not escape itself. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

function namedCharacter(code: number): HTMLElement {
  const shown = document.createElement('span');
  shown.className = 'cm-specialChar';
  shown.textContent = visible(String.fromCodePoint(code));
  return shown;
}

function completionOf({ label, detail, kind, writes, goesOn = false }: Offer): Completion {
  const text = writes ?? label;
  const cursor = text.indexOf('¦');
  return {
    label,
    // Without a displayLabel, the editor marks the typed text in the label.
    displayLabel: visible(label) === label ? undefined : visible(label),
    detail: detail && visible(detail),
    type: kind,
    apply(view, _, from, to) {
      const insert = cursor === -1 ? text : text.replace('¦', '');
      // Does not insert a closing quote or bracket that already exists.
      const next = view.state.sliceDoc(to, to + 1);
      const overlaps = next !== '' && insert.endsWith(next) && /["`})\]]/.test(next);
      const anchor = from + (cursor === -1 ? insert.length : cursor);
      view.dispatch({ changes: { from, to: overlaps ? to + 1 : to, insert }, selection: { anchor } });
      if (goesOn || cursor !== -1) startCompletion(view);
    },
  };
}
