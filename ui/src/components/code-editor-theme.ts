/**
 * Editor theme from the page's tokens. Tokens apply inside the shadow tree, but the page's style sheets do
 * not.
 */
import { EditorView } from '@codemirror/view';

export const editorTheme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', maxHeight: '40vh', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)', fontVariantLigatures: 'none' },
  '.cm-line': { padding: '0 12px' },
  '.cm-placeholder': { color: 'var(--text-muted)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selected)',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--line-strong)',
  },
  '.ql-comment': { color: 'var(--text-muted)', fontStyle: 'italic' },
  '.ql-label, .ql-field': { color: 'var(--debug-text)' },
  '.ql-string': { color: 'var(--info-text)' },
  '.ql-number': { color: 'var(--warn-text)' },
  '.ql-operator': { color: 'var(--text-muted)' },
  '.ql-keyword': { color: 'var(--critical-text)' },
  '.ql-function': { color: 'var(--accent-strong)', fontWeight: '500' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    borderBottom: '2px solid var(--error)',
    borderRadius: '2px 2px 0 0',
    backgroundColor: 'var(--error-ground)',
  },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--error)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: '8px',
    background: 'var(--raised)',
    boxShadow: 'var(--shadow-high)',
    color: 'var(--text)',
    overflow: 'hidden',
  },
  '.cm-tooltip-lint .cm-diagnostic-error': { borderLeft: '3px solid var(--error)', padding: '6px 10px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    maxHeight: '260px',
    padding: '4px',
    fontFamily: 'var(--mono)',
    fontSize: '12px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    gap: '16px',
    alignItems: 'baseline',
    justifyContent: 'space-between',
    padding: '4px 8px',
    borderRadius: '4px',
    lineHeight: '1.4',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent-soft)',
    color: 'var(--text)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent-strong)', fontWeight: '600' },
  '.cm-completionDetail': {
    marginLeft: '0',
    color: 'var(--text-muted)',
    fontStyle: 'normal',
    fontFamily: 'var(--font)',
    fontSize: '11px',
  },
});
