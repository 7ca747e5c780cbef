/** Chosen selector with a chip for each matcher; a click removes it. */
import { Icon } from '../../components/icon.tsx';
import {
  type ChosenLabels,
  isEmptySelection,
  restOf,
  withoutLabel,
  withoutOther,
} from '../../logql/selection.ts';

interface SelectionLineProps {
  readonly query: string;
  readonly selection: ChosenLabels;
  readonly onChange: (selection: ChosenLabels) => void;
}

export function SelectionLine({ query, selection, onChange }: SelectionLineProps) {
  const piece = (text: string, without: ChosenLabels) => (
    <li key={text}>
      <button type="button" class="matcher" onClick={() => onChange(without)} title={`Remove ${text}`}>
        <code>{text}</code>
        <Icon name="close" size={10} />
      </button>
    </li>
  );
  const rest = restOf(query);
  return (
    <section class="selection" aria-label="Selection">
      {isEmptySelection(selection) && <p class="soft">Select values below to build a selector.</p>}
      <ul>
        {[...selection.values].map(([label, values]) =>
          piece(
            values.length === 1 ? `${label} = ${values[0]}` : `${label} = ${values.join(' or ')}`,
            withoutLabel(selection, label),
          ),
        )}
        {selection.others.map(matcher => piece(matcher, withoutOther(selection, matcher)))}
        {rest !== '' && (
          <li>
            <code class="soft" title="Rest of the query, unchanged">
              {rest}
            </code>
          </li>
        )}
      </ul>
    </section>
  );
}
