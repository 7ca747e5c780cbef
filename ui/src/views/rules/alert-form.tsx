/** Form that creates an alert from a query: a condition, a preview over the last day, and its rule group. */
import { useMemo, useState } from 'preact/hooks';
import { MS_PER_DAY } from '../../../../shared/base/model/time-units.ts';
import { type ApiError, mistakeOf } from '../../api/errors.ts';
import { createRuleGroup } from '../../api/rules.ts';
import { Button } from '../../components/button.tsx';
import { type ChartSeries, colorOf, gridOf, valuesOn } from '../../components/chart-model.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { TimeChart } from '../../components/time-chart.tsx';
import { unitOf } from '../../logql/unit.ts';
import { useMetric } from '../../query/use-metric.ts';
import { countText, UNIT_TEXTS } from '../../time/quantities.ts';
import {
  type AlertDraft,
  COMPARISON_OPERATORS,
  expressionOf,
  faultOf,
  groupOf,
  newAlert,
  type Operator,
  previewOf,
} from './alert-model.ts';

interface AlertFormProps {
  readonly query: string;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** Number of preview points: five minutes each. */
const POINTS = 300;
const MAX_DRAWN_SERIES = 20;
const DURATIONS = [0, 1, 5, 10, 15, 30, 60];

export function AlertForm({ query, onClose, onCreated }: AlertFormProps) {
  const [draft, setDraft] = useState(() => newAlert(query));
  /** Previewed query; an incomplete query is not run. */
  const [asked, setAsked] = useState(draft.query);
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const change = (changes: Partial<AlertDraft>) => setDraft(before => ({ ...before, ...changes }));
  const { name, operator, threshold, forMinutes, severity, summary, namespace } = draft;
  const fault = faultOf(draft);
  const create = () => {
    setBusy(true);
    setProblem(undefined);
    createRuleGroup(namespace.trim(), name, groupOf(draft)).then(onCreated, (error: ApiError) => {
      setBusy(false);
      setProblem(error);
    });
  };
  return (
    <Dialog title="Create alert" onClose={onClose} size="medium">
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          if (fault === undefined) create();
        }}
      >
        <label class="field">
          <span>Metric query</span>
          <textarea
            class="input mono"
            rows={3}
            value={draft.query}
            spellcheck={false}
            onInput={event => change({ query: event.currentTarget.value })}
            onBlur={() => setAsked(draft.query)}
          />
        </label>
        <div class="form-columns">
          <label class="field">
            <span>Alert name</span>
            <input
              class="input"
              value={name}
              placeholder="ManyErrors"
              autofocus
              maxLength={100}
              onInput={event => change({ name: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>Condition</span>
            <select
              class="input"
              value={operator}
              onChange={event => change({ operator: event.currentTarget.value as Operator })}
            >
              {COMPARISON_OPERATORS.map(known => (
                <option key={known}>{known}</option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Threshold</span>
            <input
              class="input numeric"
              value={threshold}
              inputMode="decimal"
              onInput={event => change({ threshold: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>For</span>
            <select
              class="input"
              value={String(forMinutes)}
              onChange={event => change({ forMinutes: Number(event.currentTarget.value) })}
            >
              {DURATIONS.map(minutes => (
                <option key={minutes} value={String(minutes)}>
                  {minutes === 0 ? 'immediately' : `${minutes} min`}
                </option>
              ))}
            </select>
          </label>
        </div>
        <div class="alert-preview-place">
          <AlertPreview draft={draft} query={asked} />
        </div>
        <div class="form-columns">
          <label class="field">
            <span>Severity</span>
            <input
              class="input"
              value={severity}
              onInput={event => change({ severity: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>Summary</span>
            <input
              class="input"
              value={summary}
              placeholder="{{ $value }} errors in five minutes"
              onInput={event => change({ summary: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>Namespace</span>
            <input
              class="input"
              value={namespace}
              onInput={event => change({ namespace: event.currentTarget.value })}
            />
          </label>
        </div>
        <p class="soft">
          The rule is evaluated every minute: <code>{expressionOf(draft).replaceAll('\n', ' ')}</code>
        </p>
        {problem !== undefined && <ErrorMessage error={problem} />}
        <div class="form-actions">
          {fault !== undefined && <p class="soft alert-fault">{fault}</p>}
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits disabled={busy || fault !== undefined}>
            Create alert
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function AlertPreview({ draft, query }: { readonly draft: AlertDraft; readonly query: string }) {
  const range = useMemo(() => {
    const nowMs = Date.now();
    return { fromMs: nowMs - MS_PER_DAY, toMs: nowMs };
  }, [query]);
  const queries = query.trim() === '' ? undefined : [{ query, legend: '' }];
  const { value: answer, error } = useMetric(queries, range, { points: POINTS });
  const timesMs = useMemo(() => (answer === undefined ? [] : gridOf(answer.range, answer.stepMs)), [answer]);
  const { threshold, operator, forMinutes } = draft;
  const limit = Number(threshold);
  const data = useMemo(() => {
    const series: ChartSeries[] = (answer?.series ?? []).slice(0, MAX_DRAWN_SERIES).map((one, i) => ({
      label: one.label,
      labels: one.metric,
      color: colorOf(i),
      values: valuesOn(timesMs, one),
    }));
    if (!Number.isFinite(limit)) return { timesMs, series };
    const line = {
      label: 'threshold',
      labels: {},
      color: '--error',
      dashed: true,
      values: timesMs.map(() => limit),
    };
    return { timesMs, series: [...series, line] };
  }, [answer, timesMs, limit]);
  if (error !== undefined) {
    return mistakeOf(error.message, query) === undefined ? (
      <ErrorMessage error={error} />
    ) : (
      <p class="form-problem" role="alert">
        {error.message}
      </p>
    );
  }
  if (answer === undefined) return <p class="soft">Loading preview…</p>;
  const { firings, series } = previewOf(answer.series, { threshold, operator, forMinutes }, answer.stepMs);
  return (
    <section class="alert-preview" aria-label="Preview">
      <p role="status">
        {firings === 0
          ? 'It would not have fired in the last day.'
          : `In the last day it would have fired ${firings === 1 ? 'once' : `${countText(firings)} times`}, for ${countText(series)} of ${countText(answer.series.length)} series.`}
      </p>
      <TimeChart
        data={data}
        kind="lines"
        fromMs={answer.range.fromMs}
        toMs={answer.range.toMs}
        stepMs={answer.stepMs}
        heightPx={170}
        valueText={UNIT_TEXTS[unitOf(query)]}
        name={`Values of ${answer.series.length} series in the last day, with the threshold`}
      />
    </section>
  );
}
