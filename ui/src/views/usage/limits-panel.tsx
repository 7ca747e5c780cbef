/** Limits of the tenant: the most important ones, and all of them with a search. */
import { fetchLimits } from '../../api/limits.ts';
import { useRequest } from '../../api/use-request.ts';
import { Figures } from '../../components/figures.tsx';
import { FindField } from '../../components/find-field.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { changeParams, route } from '../../state/navigation.ts';
import { useStore } from '../../state/use-store.ts';
import type { YamlEntry } from '../../values/yaml-entries.ts';
import { findLimits, oftenAsked } from './usage-model.ts';

const PAGE = 12;

export function LimitsPanel() {
  const text = useStore(route).params.find ?? '';
  const { value, error } = useRequest(fetchLimits, []);
  return (
    <Panel
      title="Limits"
      aside={
        <FindField
          name="Search limits"
          value={text}
          onChange={find => changeParams({ find }, { replace: true })}
        />
      }
    >
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading limits" />}
      {value !== undefined && (
        <>
          {text === '' && (
            <Figures
              figures={oftenAsked(value).map(limit => ({
                name: limit.name.replaceAll('_', ' '),
                value: limitText(limit),
              }))}
            />
          )}
          <LimitTable key={text} limits={findLimits(value, text)} />
        </>
      )}
    </Panel>
  );
}

/** Text of a limit; a 0 that means "unlimited" is shown so. */
function limitText({ name, value }: YamlEntry): string {
  return name === 'retention_period' && value === '0s' ? 'forever' : value === '0' ? 'none' : value;
}

function LimitTable({ limits }: { readonly limits: readonly YamlEntry[] }) {
  const paged = usePaged(limits, PAGE);
  if (limits.length === 0) return <p class="panel-empty soft">No limits match your search.</p>;
  return (
    <>
      <ScrollAcross name="All limits">
        <table class="table limit-table">
          <thead>
            <tr>
              <th>Limit</th>
              <th>Value</th>
            </tr>
          </thead>
          <tbody>
            {paged.shown.map(({ name, value, isNested }) => (
              <tr key={name}>
                <td class="mono">{name}</td>
                <td>{isNested ? <pre>{value}</pre> : <code>{value === '' ? '""' : value}</code>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollAcross>
      <More paged={paged} what="limits" />
    </>
  );
}
