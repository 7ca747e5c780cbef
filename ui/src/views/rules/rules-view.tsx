/** Rules by group, and active alerts. Refreshes every few seconds while the page is visible. */
import { useCallback, useMemo } from 'preact/hooks';
import { fetchAlerts, fetchRules, type RuleGroup } from '../../api/rules.ts';
import { useRequest } from '../../api/use-request.ts';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { Moment } from '../../components/moment.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { Panel, PanelPage } from '../../components/panel-page.tsx';
import { changeParams, route } from '../../state/navigation.ts';
import { useEvery } from '../../state/use-every.ts';
import { useStore } from '../../state/use-store.ts';
import { spanText } from '../../time/moments.ts';
import { countText } from '../../time/quantities.ts';
import { AlertForm } from './alert-form.tsx';
import { AlertTable } from './alert-table.tsx';
import { RuleRow } from './rule-row.tsx';
import { countRules, filterOf, momentOf, RULE_FILTERS, shownGroups, sortedAlerts } from './rules-model.ts';

/** Refresh interval; rules are evaluated once a minute by default. */
const REFRESH_MS = 10_000;
const GROUPS_PAGE = 30;
const RULES_PAGE = 50;

export default function RulesView() {
  const { params } = useStore(route);
  const shows = params.show === 'alerts' ? 'alerts' : 'rules';
  const filter = filterOf(params.state);
  const text = params.find ?? '';
  const rules = useRequest(fetchRules, []);
  const alerts = useRequest(
    signal => (shows === 'alerts' ? fetchAlerts(signal) : Promise.resolve([])),
    [shows],
  );
  const reload = () => {
    rules.reload();
    alerts.reload();
  };
  useEvery(REFRESH_MS, reload);
  const closeForm = useCallback(() => changeParams({ new: '', q: '' }, { replace: true }), []);
  const groups = rules.value;
  const counts = useMemo(() => countRules(groups ?? []), [groups]);
  const found = useMemo(() => shownGroups(groups ?? [], { filter, text }), [groups, filter, text]);
  const active = useMemo(() => sortedAlerts(alerts.value ?? [], text), [alerts.value, text]);
  const error = rules.error ?? alerts.error;
  return (
    <PanelPage
      title="Rules and alerts"
      about={groups === undefined ? 'Rules of this tenant and their state' : <Summary groups={groups} />}
      onReload={reload}
      tools={
        <>
          <Button icon="plus" onClick={() => changeParams({ new: '1' })}>
            Create alert
          </Button>
          <Choice
            name="View"
            value={shows}
            onChange={show => changeParams({ show: show === 'rules' ? '' : show })}
            options={[
              { value: 'rules', label: 'Rules', icon: 'table' },
              { value: 'alerts', label: 'Active alerts', icon: 'bell' },
            ]}
          />
        </>
      }
    >
      {params.new === '1' && (
        <AlertForm
          key={params.q ?? ''}
          query={params.q ?? ''}
          onClose={closeForm}
          onCreated={() => {
            closeForm();
            reload();
          }}
        />
      )}
      {error !== undefined && <ErrorMessage error={error} />}
      {groups === undefined && error === undefined && <Loading what="Loading rules" />}
      {groups?.length === 0 && <NoRules />}
      {groups !== undefined && groups.length > 0 && (
        <>
          <div class="rules-tools">
            {shows === 'rules' && (
              <Choice
                name="Rule state"
                value={filter}
                onChange={state => changeParams({ state: state === 'all' ? '' : state })}
                options={RULE_FILTERS.filter(known => known === filter || counts[known] > 0).map(value => ({
                  value,
                  label: `${value[0].toUpperCase()}${value.slice(1)} ${countText(counts[value])}`,
                }))}
              />
            )}
            <FindField
              name={shows === 'rules' ? 'Search rules' : 'Search alerts'}
              value={text}
              onChange={find => changeParams({ find }, { replace: true })}
            />
          </div>
          {shows === 'rules' ? (
            <Groups key={`${filter} ${text}`} groups={found} />
          ) : active.length > 0 ? (
            <AlertTable alerts={active} />
          ) : (
            !alerts.loading && (
              <Empty icon="check" title={text === '' ? 'No active alerts' : 'No matching alerts'}>
                <p>No alert is pending or firing.</p>
              </Empty>
            )
          )}
        </>
      )}
    </PanelPage>
  );
}

function Summary({ groups }: { readonly groups: readonly RuleGroup[] }) {
  const { all, firing, broken } = countRules(groups);
  return (
    <span class="numeric">
      {countText(all)} {all === 1 ? 'rule' : 'rules'} in {countText(groups.length)}{' '}
      {groups.length === 1 ? 'group' : 'groups'}, {countText(firing)} firing
      {broken > 0 && `, ${countText(broken)} broken`}
    </span>
  );
}

function Groups({ groups }: { readonly groups: readonly RuleGroup[] }) {
  const paged = usePaged(groups, GROUPS_PAGE);
  if (groups.length === 0) {
    return (
      <Empty icon="search" title="No matching rules">
        <p>Select another state, or change the search.</p>
      </Empty>
    );
  }
  return (
    <>
      {paged.shown.map(group => (
        <Group key={`${group.file}/${group.name}`} group={group} />
      ))}
      <More paged={paged} what="groups" />
    </>
  );
}

function Group({ group }: { readonly group: RuleGroup }) {
  const paged = usePaged(group.rules, RULES_PAGE);
  const evaluated = momentOf(group.lastEvaluation);
  return (
    <Panel
      title={`${group.file} / ${group.name}`}
      aside={
        <span class="numeric">
          every {spanText(group.interval)}
          {evaluated !== undefined && (
            <>
              , last <Moment ms={evaluated} />
            </>
          )}
        </span>
      }
    >
      <ul class="rule-list">
        {paged.shown.map((rule, i) => (
          <RuleRow key={`${rule.name} ${i}`} rule={rule} />
        ))}
      </ul>
      <More paged={paged} what="rules" />
    </Panel>
  );
}

function NoRules() {
  const example = `namespace: shop
groups:
  - name: errors
    rules:
      - alert: ManyErrors
        expr: sum(count_over_time({app="shop"} |= "error" [5m])) > 10`;
  return (
    <Empty icon="bell" title="No rules">
      <p>
        A rule evaluates a query repeatedly, and alerts you or stores the result. Write a file, then run{' '}
        <code>logboom rules load rules.yaml</code>:
      </p>
      <pre class="example">{example}</pre>
    </Empty>
  );
}
