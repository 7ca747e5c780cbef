/** Details of a line: its full text, labels, metadata and fields, with filters for each. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Labels } from '../../api/types.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { LineText } from '../../components/line-text.tsx';
import { parseAnsi } from '../../lines/ansi.ts';
import { linkOf } from '../../lines/field-links.ts';
import { fieldsOf, parseJson } from '../../lines/fields.ts';
import type { LogRow } from '../../lines/rows.ts';
import { type FieldCondition, isNumeric } from '../../logql/edit.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { LinkSheet } from './link-sheet.tsx';
import { PrettyJson } from './pretty-json.tsx';

interface LineDetailsProps {
  readonly row: LogRow;
  readonly highlights: readonly RegExp[];
  readonly onCondition: (condition: FieldCondition) => void;
  /** Adds a column to the list. */
  readonly onColumn: (name: string) => void;
  readonly onContext: () => void;
}

export function LineDetails({ row, highlights, onCondition, onColumn, onContext }: LineDetailsProps) {
  const { line, stream, metadata, parsed } = row;
  const json = useMemo(() => parseJson(line), [line]);
  const inLine = useMemo(() => fieldsOf(parseAnsi(line).text), [line]);
  const [shape, setShape] = useState<'pretty' | 'text'>('pretty');
  const known = new Set(Object.keys(parsed));
  return (
    <section class="details" aria-label="Line details">
      <div class="details-tools">
        {json !== undefined && (
          <Choice
            name="Line format"
            value={shape}
            onChange={setShape}
            options={[
              { value: 'pretty', label: 'JSON' },
              { value: 'text', label: 'Text' },
            ]}
          />
        )}
        <CopyButton text={line} label="Copy line" />
        <CopyButton
          text={JSON.stringify({ timestamp: row.ns, line, labels: stream, metadata, parsed }, undefined, 2)}
          label="Copy as JSON"
        />
        <Button kind="quiet" class="small" icon="context" onClick={onContext}>
          Show context
        </Button>
      </div>
      {json !== undefined && shape === 'pretty' ? (
        <PrettyJson value={json} />
      ) : (
        <pre class="pretty">
          <LineText line={line} highlights={highlights} />
        </pre>
      )}
      <div class="field-groups">
        <Fields
          title="Labels"
          labels={Object.entries(stream)}
          source="stream"
          onCondition={onCondition}
          onColumn={onColumn}
        />
        <Fields
          title="Structured metadata"
          labels={Object.entries(metadata)}
          source="entry"
          onCondition={onCondition}
          onColumn={onColumn}
        />
        <Fields
          title="Parsed by the query"
          labels={parsedOf(parsed)}
          source="entry"
          inLine
          onCondition={onCondition}
          onColumn={onColumn}
        />
        {inLine !== undefined && (
          <Fields
            title={`Fields of the line (${inLine.parser})`}
            labels={inLine.fields.filter(([name]) => !known.has(name))}
            source={inLine.parser}
            inLine
            onCondition={onCondition}
            onColumn={onColumn}
          />
        )}
      </div>
    </section>
  );
}

/** Parsed fields without the labels that the pipeline adds. */
function parsedOf(parsed: Labels): readonly (readonly [string, string])[] {
  return Object.entries(parsed).filter(([name]) => name !== '__error_details__');
}

interface FieldsProps {
  readonly title: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly source: FieldCondition['source'];
  /** True if the values are in the text of the line, so that a value may be a number. */
  readonly inLine?: boolean;
  readonly onCondition: (condition: FieldCondition) => void;
  /** Adds a column to the list. */
  readonly onColumn: (name: string) => void;
}

function Fields({ title, labels, source, inLine = false, onCondition, onColumn }: FieldsProps) {
  const { links } = useStore(settings);
  const [linked, setLinked] = useState<readonly [name: string, value: string]>();
  const close = useCallback(() => setLinked(undefined), []);
  if (labels.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <table class="fields">
        <tbody>
          {labels.map(([name, value]) => (
            <tr key={`${name}=${value}`}>
              <td class="field-tools">
                <IconButton
                  icon="plus"
                  name={`Only lines with ${name} = ${shortened(value)}`}
                  onClick={() =>
                    onCondition({ name, value, op: '=', source, numeric: inLine && isNumeric(value) })
                  }
                />
                <IconButton
                  icon="minus"
                  name={`Only lines without ${name} = ${shortened(value)}`}
                  onClick={() =>
                    onCondition({ name, value, op: '!=', source, numeric: inLine && isNumeric(value) })
                  }
                />
                <IconButton icon="table" name={`Add ${name} as a column`} onClick={() => onColumn(name)} />
                <IconButton icon="link" name={`Link for ${name}`} onClick={() => setLinked([name, value])} />
              </td>
              <th scope="row">{name}</th>
              <td class="field-value">
                <LinkedValue template={links[name]} value={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {linked !== undefined && <LinkSheet name={linked[0]} value={linked[1]} onClose={close} />}
    </section>
  );
}

interface LinkedValueProps {
  readonly template: string | undefined;
  readonly value: string;
}

/** Link that contains the value in its name, so that it can still be read and copied. */
function LinkedValue({ template, value }: LinkedValueProps) {
  const href = template === undefined ? undefined : linkOf(template, value);
  if (href === undefined) return <>{value}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {value}
    </a>
  );
}

function shortened(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}
