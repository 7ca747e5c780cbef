/**
 * LogQL highlighting. Parses the whole query after each change: it is short, and nothing else needs its tree.
 */
import { RangeSetBuilder } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { parser } from '@grafana/lezer-logql';
import { highlightTree, styleTags, tagHighlighter, tags } from '@lezer/highlight';

/** Maximum query length, parsed in a few milliseconds. Only machines write longer queries. */
const MAX_CHARACTERS = 20_000;

const styled = parser.configure({
  props: [
    styleTags({
      LineComment: tags.comment,
      'Matcher/Identifier': tags.labelName,
      Identifier: tags.propertyName,
      String: tags.string,
      'Number Duration Bytes': tags.number,
      'PipeExact PipeMatch PipePattern Npa Nre Neq Eq Re Pipe Eql Gtr Gte Lss Lte Add Sub Mul Div Mod Pow':
        tags.operator,
      'Json Logfmt Unpack Pattern Regexp Unwrap LabelFormat LineFormat Decolorize Drop Keep': tags.keyword,
      'By Without And Or Unless On Ignoring GroupLeft GroupRight Bool Offset': tags.keyword,
      'RangeOp/... VectorOp/... LabelReplace Vector ConvOp/...': tags.function(tags.name),
    }),
  ],
});

const highlighter = tagHighlighter([
  { tag: tags.comment, class: 'ql-comment' },
  { tag: tags.labelName, class: 'ql-label' },
  { tag: tags.propertyName, class: 'ql-field' },
  { tag: tags.string, class: 'ql-string' },
  { tag: tags.number, class: 'ql-number' },
  { tag: tags.operator, class: 'ql-operator' },
  { tag: tags.keyword, class: 'ql-keyword' },
  { tag: tags.function(tags.name), class: 'ql-function' },
]);

const MARKS = new Map<string, Decoration>();

function markOf(classes: string): Decoration {
  const known = MARKS.get(classes) ?? Decoration.mark({ class: classes });
  MARKS.set(classes, known);
  return known;
}

function decorate({ state }: EditorView): DecorationSet {
  if (state.doc.length > MAX_CHARACTERS) return Decoration.none;
  const builder = new RangeSetBuilder<Decoration>();
  highlightTree(styled.parse(state.doc.toString()), highlighter, (from, to, classes) =>
    builder.add(from, to, markOf(classes)),
  );
  return builder.finish();
}

export const logqlHighlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged) this.decorations = decorate(update.view);
    }
  },
  { decorations: plugin => plugin.decorations },
);
