import { useState } from 'preact/hooks'
import type { LimitUse, TeamDetail } from '@sandyard/dashboard-contract/teams'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { Time } from '../../parts/time.tsx'
import { me } from '../../session/session.ts'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'
import { LimitDialog } from './limit-dialog.tsx'
import { LimitsTable } from './limits-table.tsx'
import { TeamActions } from './team-actions.tsx'
import { TeamStateBadge } from './team-state-badge.tsx'
import '../../styles/details.css'

/** @param title instead of the name of the team */
export function TeamPanels({ teamId, title }: { readonly teamId: string; readonly title?: string }) {
  const [changing, setChanging] = useState<LimitUse | undefined>(undefined)
  const { value, failure, reload } = useCall(teamId, (signal) => call('GET /teams/{teamId}', { params: { teamId }, signal }))
  const isOperator = me.value?.role === 'operator'
  return (
    <>
      <div class="page-head">
        <h1>{title ?? value?.name ?? texts.team}</h1>
        {value !== undefined && <TeamStateBadge team={value} />}
        {value !== undefined && isOperator && (
          <div class="actions">
            <TeamActions team={value} onChanged={reload} />
          </div>
        )}
      </div>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {(team) => (
          <>
            <div class="columns">
              <TeamFacts team={team} />
              <Members team={team} />
            </div>
            <section class="panel" aria-labelledby="limits">
              <div class="panel-head">
                <h2 id="limits">{texts.limits}</h2>
              </div>
              <LimitsTable limits={team.limits} onChange={isOperator ? setChanging : undefined} />
            </section>
            {changing !== undefined && (
              <LimitDialog teamId={teamId} limit={changing} onClose={() => setChanging(undefined)} onChanged={reload} />
            )}
          </>
        )}
      </LoadedPart>
    </>
  )
}

function TeamFacts({ team }: { readonly team: TeamDetail }) {
  return (
    <section class="panel" aria-labelledby="facts">
      <div class="panel-head">
        <h2 id="facts">{texts.facts}</h2>
      </div>
      <dl class="facts panel-body">
        <dt>{texts.name}</dt>
        <dd>{team.name}</dd>
        <dt>{texts.slug}</dt>
        <dd class="mono">{team.slug}</dd>
        <dt>{texts.id}</dt>
        <dd class="mono">{team.teamId}</dd>
        <dt>{texts.email}</dt>
        <dd>{team.email}</dd>
        <dt>{texts.columns.created}</dt>
        <dd>
          <Time at={team.createdAt} />
        </dd>
        {team.blockedReason !== null && (
          <>
            <dt>{texts.reason}</dt>
            <dd>{team.blockedReason}</dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Members({ team }: { readonly team: TeamDetail }) {
  return (
    <section class="panel" aria-labelledby="members">
      <div class="panel-head">
        <h2 id="members">{texts.members}</h2>
      </div>
      <DataTable
        caption={texts.members}
        rows={team.members}
        rowKey={({ userId }) => userId}
        empty={texts.membersEmpty}
        columns={[
          {
            id: 'member',
            title: texts.columns.member,
            cell: ({ email, isDefault }) => (
              <span class="row">
                {email}
                {isDefault && <span class="badge badge-plain">{texts.isDefault}</span>}
              </span>
            ),
          },
          { id: 'since', title: texts.columns.since, cell: ({ since }) => <Time at={since} /> },
        ]}
      />
    </section>
  )
}
