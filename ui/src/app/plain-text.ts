/**
 * Escapes control characters in everything that the page draws, so that no view has to. In texts and visible
 * attributes, control characters and characters that change text direction are shown by name (`\x1b`,
 * `\u202e`). Preact already treats markup as text. Copied, saved and sent text is unchanged.
 */
import { options, type VNode } from 'preact';
import { visibleLines } from '../../../shared/base/model/visible-text.ts';

const SHOWN_ATTRIBUTES = ['title', 'aria-label', 'placeholder'];

/** Installs the hook; call it once before anything is drawn. */
export function drawPlainText(): void {
  const before = options.vnode;
  options.vnode = vnode => {
    plain(vnode as unknown as DrawnNode);
    before?.(vnode);
  };
}

/** Preact's text node: no type, and the text as props. */
interface DrawnNode extends Pick<VNode, 'type'> {
  props: string | Record<string, unknown>;
}

function plain(vnode: DrawnNode): void {
  const { type, props } = vnode;
  if (typeof props === 'string') vnode.props = visibleLines(props);
  else if (typeof type === 'string') {
    for (const name of SHOWN_ATTRIBUTES) {
      const value = props[name];
      if (typeof value === 'string') props[name] = visibleLines(value);
    }
  }
}
