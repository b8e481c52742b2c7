import type { HostView } from '@sandyard/dashboard-contract/host'
import { paths } from '../../frame/paths.ts'
import { Ago } from '../../parts/ago.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Meter } from '../../parts/meter.tsx'
import { Panel } from '../../parts/panel.tsx'
import { durationText } from '../../parts/time-text.ts'
import { hostTexts as texts } from '../../texts/host-texts.ts'
import '../../styles/details.css'

export function HostLists({ host: { teams, slowCreates, versions } }: { readonly host: HostView }) {
  return (
    <div class="columns">
      <Panel title={texts.teams} isFlush>
        <DataTable
          caption={texts.teams}
          rows={teams}
          rowKey={({ teamId }) => teamId}
          empty={texts.teamsEmpty}
          columns={[
            { id: 'team', title: texts.columns.team, cell: ({ teamId, name }) => <a href={paths.team(teamId)}>{name}</a> },
            {
              id: 'use',
              title: texts.columns.use,
              isNumber: true,
              cell: ({ running, limit }) => (
                <>
                  <Meter share={running / limit} /> {running}/{limit}
                </>
              ),
            },
          ]}
        />
      </Panel>
      <Panel title={texts.slow} isFlush>
        <DataTable
          caption={texts.slow}
          rows={slowCreates}
          rowKey={({ sandboxId }) => sandboxId}
          empty={texts.slowEmpty}
          columns={[
            { id: 'sandbox', title: texts.columns.sandbox, cell: ({ sandboxId }) => <code>{sandboxId}</code> },
            { id: 'took', title: texts.columns.took, isNumber: true, cell: ({ ms }) => durationText(ms) },
            { id: 'at', title: texts.columns.at, cell: ({ at }) => <Ago at={at} /> },
          ]}
        />
      </Panel>
      <Panel title={texts.versions}>
        <dl class="facts">
          {Object.entries(versions).flatMap(([name, version]) => [<dt key={name}>{name}</dt>, <dd key={`${name} version`}>{version}</dd>])}
        </dl>
      </Panel>
    </div>
  )
}
