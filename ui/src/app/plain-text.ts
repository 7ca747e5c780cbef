/**
 * Everything that the page draws passes here, so that no view has to think of it: in texts, and in attributes that are shown, control
 * characters and those that turn the direction of text are named (`\x1b`, `\u202e`) instead of obeyed or swallowed. Markup is text to
 * Preact anyway. What is copied, saved and sent stays as it is.
 */
import { options, type VNode } from 'preact';
import { visibleLines } from '../../../shared/base/model/visible-text.ts';

const SHOWN_ATTRIBUTES = ['title', 'aria-label', 'placeholder'];

/** To be called once, before anything is drawn. */
export function drawPlainText(): void {
  const before = options.vnode;
  options.vnode = vnode => {
    plain(vnode as unknown as Drawn);
    before?.(vnode);
  };
}

/** As Preact has it: a text is a node without type whose props are the text. */
interface Drawn extends Pick<VNode, 'type'> {
  props: string | Record<string, unknown>;
}

function plain(vnode: Drawn): void {
  const { type, props } = vnode;
  if (typeof props === 'string') vnode.props = visibleLines(props);
  else if (typeof type === 'string') {
    for (const name of SHOWN_ATTRIBUTES) {
      const value = props[name];
      if (typeof value === 'string') props[name] = visibleLines(value);
    }
  }
}
