/** Rule with its state, expression and current alerts. */
import type { ActiveAlert, Rule } from '../../api/rules.ts';
import { Chip, LabelChips, type Tone } from '../../components/chip.tsx';
import { Moment } from '../../components/moment.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { QueryText } from '../../components/query-text.tsx';
import { hrefOf } from '../../state/navigation.ts';
import { spanText } from '../../time/moments.ts';
import { countText, quantityText } from '../../time/quantities.ts';
import { momentOf, type RuleStatus, stateOfRule } from './rules-model.ts';

const TONES: Readonly<Record<RuleStatus, Tone>> = {
  firing: 'error',
  broken: 'error',
  pending: 'warn',
  inactive: 'good',
  unknown: 'quiet',
  recording: 'busy',
};
const NAMES: Readonly<Record<RuleStatus, string>> = {
  firing: 'Firing',
  broken: 'Broken',
  pending: 'Pending',
  inactive: 'Inactive',
  unknown: 'Not evaluated',
  recording: 'Recording',
};
/** Alerts per page; a rule may have 10,000. */
const ALERTS_PAGE = 20;

export function RuleRow({ rule }: { readonly rule: Rule }) {
  const state = stateOfRule(rule);
  const alerts = rule.type === 'alerting' ? rule.alerts : [];
  const evaluated = momentOf(rule.lastEvaluation);
  return (
    <li class="rule">
      <div class="rule-state">
        <Chip tone={TONES[state]}>{NAMES[state]}</Chip>
      </div>
      <div class="rule-what">
        <p class="rule-name">
          <strong>{rule.name}</strong>
          {rule.type === 'alerting' && rule.duration > 0 && (
            <span class="soft"> for {spanText(rule.duration)}</span>
          )}
        </p>
        <a href={hrefOf('logs', { q: rule.query })} title="Open in Logs">
          <QueryText query={rule.query} />
        </a>
        <LabelChips labels={rule.labels} />
        {rule.health === 'err' && <p class="rule-error">{rule.lastError}</p>}
        {alerts.length > 0 && <Alerts alerts={alerts} open={state === 'firing'} />}
      </div>
      <p class="rule-when soft numeric">
        {evaluated === undefined ? (
          'never evaluated'
        ) : (
          <>
            <Moment ms={evaluated} />
            <span class="rule-took">took {spanText(rule.evaluationTime)}</span>
          </>
        )}
      </p>
    </li>
  );
}

function Alerts({ alerts, open }: { readonly alerts: readonly ActiveAlert[]; readonly open: boolean }) {
  const paged = usePaged(alerts, ALERTS_PAGE);
  return (
    <details class="rule-alerts" open={open}>
      <summary>{alerts.length === 1 ? '1 alert' : `${countText(alerts.length)} alerts`}</summary>
      <ul>
        {paged.shown.map(alert => (
          <AlertLine key={JSON.stringify(alert.labels)} alert={alert} />
        ))}
      </ul>
      <More paged={paged} what="alerts" />
    </details>
  );
}

/** Alert without its name, which is the name of the rule. */
function AlertLine({ alert }: { readonly alert: ActiveAlert }) {
  const { alertname: _, ...labels } = alert.labels;
  const since = momentOf(alert.activeAt);
  return (
    <li class="alert-line">
      <span class={`alert-dot ${alert.state}`} title={alert.state} />
      <div>
        <Annotations annotations={alert.annotations} />
        <LabelChips labels={labels} />
      </div>
      <span class="alert-value numeric">{quantityText(Number(alert.value))}</span>
      <span class="alert-since soft">{since !== undefined && <Moment ms={since} />}</span>
    </li>
  );
}

/** Annotations, summary or description first; URLs are links. */
export function Annotations({ annotations }: { readonly annotations: ActiveAlert['annotations'] }) {
  const { summary, description, ...others } = annotations;
  const text = summary ?? description;
  const links = Object.entries(others).filter(([, value]) => /^https?:\/\//.test(value));
  return (
    <>
      {text !== undefined && <p>{text}</p>}
      {summary !== undefined && description !== undefined && <p class="soft">{description}</p>}
      {links.map(([name, value]) => (
        <a key={name} class="alert-link" href={value} rel="noreferrer" target="_blank">
          {name.replace(/_url$/, '')}
        </a>
      ))}
    </>
  );
}
