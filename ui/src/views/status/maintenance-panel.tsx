/** Maintenance jobs: the last run of each, and its result. */
import { fetchMaintenance, type Job, type JobRun } from '../../api/status.ts';
import { useRequest } from '../../api/use-request.ts';
import { Chip, LabelChips } from '../../components/chip.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { Moment } from '../../components/moment.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { agoText } from '../../time/moments.ts';
import { countText } from '../../time/quantities.ts';
import type { StatusPartProps } from './health-panel.tsx';

export function MaintenancePanel({ round }: StatusPartProps) {
  const { value, error } = useRequest(fetchMaintenance, [round]);
  return (
    <Panel title="Maintenance" aside={value !== undefined && <Backlog {...value.backlog} />}>
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading jobs" />}
      {value !== undefined && (
        <ScrollAcross name="Maintenance jobs">
          <table class="table job-table">
            <thead>
              <tr>
                <th>Job</th>
                <th>Interval</th>
                <th>Last run</th>
                <th>Result</th>
                <th class="number">Duration</th>
                <th class="number">Ended</th>
              </tr>
            </thead>
            <tbody>
              {value.jobs.map(job => (
                <JobRow key={job.name} job={job} />
              ))}
            </tbody>
          </table>
        </ScrollAcross>
      )}
    </Panel>
  );
}

function Backlog({
  outstanding_days: days,
  oldest_announcement: oldest,
  garbage_lists: lists,
}: BacklogProps) {
  const counted = ({ count, at_least }: { count: number; at_least: boolean }) =>
    `${at_least ? '≥ ' : ''}${countText(count)}`;
  return (
    <span class="numeric">
      {counted(days)} {days.count === 1 ? 'day' : 'days'} pending
      {oldest !== null && `, oldest from ${agoText(Date.parse(oldest), Date.now())}`} · {counted(lists)}{' '}
      {lists.count === 1 ? 'list' : 'lists'} of objects to delete
    </span>
  );
}

type BacklogProps = Awaited<ReturnType<typeof fetchMaintenance>>['backlog'];

function JobRow({ job: { name, interval, last_run: run } }: { readonly job: Job }) {
  return (
    <tr>
      <td>
        <strong>{name}</strong>
      </td>
      <td class="soft numeric">{interval.replace(/(m|h)0s$/, '$1').replace(/h0m$/, 'h')}</td>
      {run === null ? (
        <td colSpan={4} class="soft">
          never
        </td>
      ) : (
        <>
          <td>
            <RunState run={run} />
          </td>
          <td class="job-figures numeric">
            <Figures figures={run.figures} />
            {run.failures.map((failure, i) => (
              <p key={i} class="rule-error">
                {failure}
              </p>
            ))}
          </td>
          <td class="number soft">{run.duration}</td>
          <td class="number soft">
            <Moment ms={Date.parse(run.ended)} />
          </td>
        </>
      )}
    </tr>
  );
}

function RunState({ run: { done, failures } }: { readonly run: JobRun }) {
  if (failures.length > 0) return <Chip tone="error">Failed</Chip>;
  return done ? <Chip tone="good">Done</Chip> : <Chip tone="busy">Continues</Chip>;
}

/** Figures without those that are 0. */
function Figures({ figures }: { readonly figures: JobRun['figures'] }) {
  const known = Object.entries(figures).filter(([, count]) => count !== 0);
  if (known.length === 0) return <span class="soft">no work</span>;
  return (
    <LabelChips labels={Object.fromEntries(known.map(([name, count]) => [nameOf(name), countText(count)]))} />
  );
}

/** Name in words: `chunksRead` and `chunks_read` become `chunks read`. */
function nameOf(name: string): string {
  return name
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}
