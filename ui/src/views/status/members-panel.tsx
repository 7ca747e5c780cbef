/** Members of the store and their roles: the rings in one table. */
import { fetchMembers, type Members } from '../../api/status.ts';
import { useRequest } from '../../api/use-request.ts';
import { Chip } from '../../components/chip.tsx';
import { Icon } from '../../components/icon.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { Moment } from '../../components/moment.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { countText } from '../../time/quantities.ts';
import type { StatusPartProps } from './health-panel.tsx';

/** Members per page. On AWS, each instance of a function is a member. */
const PAGE = 20;

export function MembersPanel({ round }: StatusPartProps) {
  const { value, error } = useRequest(fetchMembers, [round]);
  return (
    <Panel
      title="Members and rings"
      aside={
        value !== undefined &&
        (value.members.length === 1 ? 'only this process' : `${countText(value.members.length)} members`)
      }
    >
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading members" />}
      {value !== undefined && <MemberTable {...value} />}
    </Panel>
  );
}

function MemberTable({ members, rings }: Members) {
  const paged = usePaged(members, PAGE);
  const shownRings = rings.filter(({ ids }) => ids !== undefined);
  return (
    <>
      <ScrollAcross name="Members by ring">
        <table class="table member-table">
          <thead>
            <tr>
              <th>Member</th>
              <th>State</th>
              {shownRings.map(({ name }) => (
                <th key={name} class="ring">
                  {name}
                </th>
              ))}
              <th class="number">Since</th>
              <th class="number">Heartbeat</th>
            </tr>
          </thead>
          <tbody>
            {paged.shown.map(({ id, state, address, zone, timestamp, registered_timestamp }) => (
              <tr key={id}>
                <td>
                  <code>{id}</code>
                  {(address !== id || zone !== '') && (
                    <small class="member-place">
                      {[address === id ? '' : address, zone].filter(Boolean).join(', ')}
                    </small>
                  )}
                </td>
                <td>
                  <Chip tone={state === 'ACTIVE' ? 'good' : state === 'UNHEALTHY' ? 'error' : 'warn'}>
                    {state.toLowerCase()}
                  </Chip>
                </td>
                {shownRings.map(({ name, ids }) => (
                  <td key={name} class="ring">
                    {ids?.has(id) ? <Icon name="check" size={14} /> : <span aria-hidden="true">·</span>}
                    <span class="hidden">{ids?.has(id) ? 'yes' : 'no'}</span>
                  </td>
                ))}
                <td class="number soft">
                  <Moment ms={Date.parse(registered_timestamp)} />
                </td>
                <td class="number soft">
                  <Moment ms={Date.parse(timestamp)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollAcross>
      <More paged={paged} what="members" />
    </>
  );
}
