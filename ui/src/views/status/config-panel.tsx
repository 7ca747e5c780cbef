/** Configuration: everything or only changed values, one section, or a search. */
import { useMemo } from 'preact/hooks';
import { fetchConfig } from '../../api/status.ts';
import { useRequest } from '../../api/use-request.ts';
import { Choice } from '../../components/choice.tsx';
import { FindField } from '../../components/find-field.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { changeParams, route } from '../../state/navigation.ts';
import { useStore } from '../../state/use-store.ts';
import { type ConfigLine, configLines, findConfig } from '../../values/config-paths.ts';

const PAGE = 25;

export function ConfigPanel() {
  const { params } = useStore(route);
  const mode = params.mode === 'full' ? 'full' : 'diff';
  const section = params.section ?? '';
  const text = params.find ?? '';
  const whole = useRequest(signal => fetchConfig({ mode: 'full', section: '' }, signal), []);
  const asked = useRequest(signal => fetchConfig({ mode, section }, signal), [mode, section]);
  const sections = useMemo(() => Object.keys(whole.value ?? {}), [whole.value]);
  const found = useMemo(() => findConfig(configLines(asked.value ?? {}), text), [asked.value, text]);
  const { value, error } = asked;
  return (
    <Panel
      title="Configuration"
      aside={
        <>
          <Choice
            name="Values to show"
            value={mode}
            onChange={next => changeParams({ mode: next === 'diff' ? '' : next })}
            options={[
              { value: 'diff', label: 'Changed' },
              { value: 'full', label: 'All' },
            ]}
          />
          <select
            class="input config-section"
            aria-label="Section"
            value={section}
            onChange={event => changeParams({ section: event.currentTarget.value })}
          >
            <option value="">All sections</option>
            {[...new Set([...sections, ...(section === '' ? [] : [section])])].map(name => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <FindField
            name="Search the configuration"
            value={text}
            onChange={find => changeParams({ find }, { replace: true })}
          />
        </>
      }
    >
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading configuration" />}
      {value !== undefined && (
        <ConfigTable key={`${mode} ${section} ${text}`} lines={found} isDiff={mode === 'diff'} />
      )}
    </Panel>
  );
}

interface ConfigTableProps {
  readonly lines: readonly ConfigLine[];
  readonly isDiff: boolean;
}

function ConfigTable({ lines, isDiff }: ConfigTableProps) {
  const paged = usePaged(lines, PAGE);
  if (lines.length === 0) {
    return (
      <p class="panel-empty soft">
        {isDiff ? 'No changed values match your search. Show all values.' : 'No values match your search.'}
      </p>
    );
  }
  return (
    <>
      <ScrollAcross name="Configuration values">
        <table class="table config-table">
          <thead>
            <tr>
              <th>Path</th>
              <th>Value</th>
            </tr>
          </thead>
          <tbody>
            {paged.shown.map(({ path, value }) => (
              <tr key={path}>
                <td class="mono">
                  <span class="soft">{path.slice(0, path.lastIndexOf('.') + 1)}</span>
                  {path.slice(path.lastIndexOf('.') + 1)}
                </td>
                <td>
                  <code>{value === '' ? '""' : value}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollAcross>
      <More paged={paged} what="values" />
    </>
  );
}
