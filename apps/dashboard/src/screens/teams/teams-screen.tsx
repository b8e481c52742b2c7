import { useState } from 'preact/hooks'
import type { TeamRow } from '@sandyard/dashboard-contract/teams'
import { call } from '../../api/call.ts'
import { paths } from '../../frame/paths.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Meter } from '../../parts/meter.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { Ago } from '../../parts/ago.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { me } from '../../session/session.ts'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'
import { NewTeamDialog } from './new-team-dialog.tsx'
import { TeamPanels } from './team-panels.tsx'
import { TeamStateBadge } from './team-state-badge.tsx'
import '../../styles/teams.css'

/** Operators see every team, developers the limits of their own. */
export function TeamsScreen() {
  const teamId = me.value?.team?.teamId
  if (me.value?.role === 'operator') return <AllTeams />
  return <div class="stack">{teamId !== undefined && <TeamPanels teamId={teamId} title={texts.ownTitle} />}</div>
}

function AllTeams() {
  const [{ search = '' }, change] = useUrlQuery()
  const [isCreating, setCreating] = useState(false)
  const pages = usePages(search, (cursor, signal) =>
    call('GET /teams', { query: { ...(search !== '' && { search }), ...(cursor !== undefined && { cursor }) }, signal }),
  )
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <button type="button" class="button button-primary" onClick={() => setCreating(true)}>
            {texts.create}
          </button>
        </div>
      </div>
      <div class="toolbar">
        <SearchBox label={texts.search} value={search} onSearch={(text) => change({ search: text })} />
      </div>
      <PagedTable pages={pages} caption={texts.caption} rowKey={({ teamId }) => teamId} empty={texts.empty} columns={COLUMNS} />
      {isCreating && <NewTeamDialog onClose={() => setCreating(false)} onCreated={pages.reload} />}
    </div>
  )
}

const COLUMNS: readonly Column<TeamRow>[] = [
  {
    id: 'name',
    title: texts.columns.name,
    cell: ({ teamId, name }) => (
      <span class="row">
        <a href={paths.team(teamId)}>{name}</a>
        {teamId === me.value?.team?.teamId && <span class="badge badge-accent">{texts.current}</span>}
      </span>
    ),
  },
  { id: 'slug', title: texts.columns.slug, cell: ({ slug }) => <code>{slug}</code> },
  { id: 'state', title: texts.columns.state, cell: (team) => <TeamStateBadge team={team} /> },
  {
    id: 'running',
    title: texts.columns.running,
    isNumber: true,
    cell: ({ running, limit }) => (
      <span class="row team-use">
        <Meter share={running / limit} />
        {texts.ofLimit(running, limit)}
      </span>
    ),
  },
  { id: 'paused', title: texts.columns.paused, isNumber: true, cell: ({ paused }) => paused },
  { id: 'created', title: texts.columns.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
]
