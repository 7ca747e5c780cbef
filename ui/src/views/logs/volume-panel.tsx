/** Histogram above the lines, by level. Drag to zoom; the name of a level filters by it. */
import { useCallback } from 'preact/hooks';
import type { RequestState } from '../../api/use-request.ts';
import { IconButton } from '../../components/button.tsx';
import { TimeChart } from '../../components/time-chart.tsx';
import type { Level } from '../../lines/level.ts';
import { changeSettings, settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { manyText, shortText } from '../../time/quantities.ts';
import { stepName } from '../../time/steps.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import type { LogVolume } from './use-volume.ts';

interface VolumePanelProps {
  readonly asked: RequestState<LogVolume | undefined>;
  readonly range: ResolvedRange;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  readonly onLevel: (level: Level) => void;
}

const HEIGHT_PX = 132;

export function VolumePanel({ asked, range, onZoom, onLevel }: VolumePanelProps) {
  const { showsVolume } = useStore(settings);
  const zoom = useCallback((fromMs: number, toMs: number) => onZoom(fromMs, toMs), [onZoom]);
  const { value: volume, loading, error } = asked;
  return (
    <section class="card volume" aria-label="Log volume" aria-busy={loading}>
      <header class="volume-head">
        <IconButton
          icon={showsVolume ? 'down' : 'chevron'}
          name={showsVolume ? 'Hide histogram' : 'Show histogram'}
          aria-expanded={showsVolume}
          onClick={() => changeSettings({ showsVolume: !showsVolume })}
        />
        <h2>Log volume</h2>
        {volume !== undefined && (
          <p class="numeric soft">
            {manyText(volume.total, 'line')} · {stepName(volume.stepMs)} per bar
          </p>
        )}
        <ul class="levels">
          {volume?.totals.map(({ level, count }) => (
            <li key={level}>
              <button
                type="button"
                class="level-button"
                title={`Show only ${level}`}
                onClick={() => onLevel(level)}
              >
                <i style={{ background: `var(--${level})` }} />
                {level}
                <span class="numeric">{shortText(count)}</span>
              </button>
            </li>
          ))}
        </ul>
      </header>
      {showsVolume && (
        <div class={`volume-chart ${loading ? 'stale' : ''}`} style={{ minHeight: `${HEIGHT_PX}px` }}>
          {error !== undefined && <p class="soft">Counting the volume failed: {error.message}</p>}
          {volume !== undefined && (
            <TimeChart
              data={volume.data}
              kind="bars"
              fromMs={range.fromMs}
              toMs={range.toMs}
              stepMs={volume.stepMs}
              heightPx={HEIGHT_PX}
              valueText={shortText}
              onZoom={zoom}
              name={`Lines by level over time: ${volume.totals.map(({ level, count }) => `${level} ${count}`).join(', ')}`}
            />
          )}
        </div>
      )}
    </section>
  );
}
