/**
 * CodeMirror with LogQL: highlighting, completion, mistakes underlined. It lives in a shadow tree: there its styles are
 * sheets made by script, which the page's policy allows, where a `<style>` element would be refused.
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
  /** Beside the label. */
  readonly detail?: string;
  readonly kind: 'label' | 'value' | 'field' | 'function' | 'stage' | 'text';
  /** Written instead of the label; the cursor goes to `¦`. */
  readonly writes?: string;
  /** Offer more when this was taken. */
  readonly goesOn?: boolean;
}

export interface Completions {
  /** What is between here and the cursor is replaced. */
  readonly from: number;
  readonly offers: readonly Offer[];
}

export interface CodeEditorOptions {
  readonly value: string;
  readonly placeholder: string;
  readonly onChange: (value: string) => void;
  readonly onRun: () => void;
  /** Whether Enter runs this text; otherwise it begins a line. */
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
  /** The change that is made now comes from the page, which knows it. */
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

/** The word at the mistake, or what is before the end where the query stops too early. */
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

/** Beside the control characters that the editor knows. */
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
    // Without one the editor marks what was typed in the label.
    displayLabel: visible(label) === label ? undefined : visible(label),
    detail: detail && visible(detail),
    type: kind,
    apply(view, _, from, to) {
      const insert = cursor === -1 ? text : text.replace('¦', '');
      // A quote or bracket that was closed already is not written twice.
      const next = view.state.sliceDoc(to, to + 1);
      const overlaps = next !== '' && insert.endsWith(next) && /["`})\]]/.test(next);
      const anchor = from + (cursor === -1 ? insert.length : cursor);
      view.dispatch({ changes: { from, to: overlaps ? to + 1 : to, insert }, selection: { anchor } });
      if (goesOn || cursor !== -1) startCompletion(view);
    },
  };
}
