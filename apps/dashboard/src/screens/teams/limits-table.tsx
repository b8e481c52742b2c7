import type { LimitUse } from '@sandyard/dashboard-contract/teams'
import { DataTable } from '../../parts/data-table.tsx'
import { Meter } from '../../parts/meter.tsx'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'
import { amountText, limitName } from './limit-text.ts'

export interface LimitsTableProps {
  readonly limits: readonly LimitUse[]
  /** Absent: they cannot be changed here. */
  readonly onChange: ((limit: LimitUse) => void) | undefined
}

export function LimitsTable({ limits, onChange }: LimitsTableProps) {
  return (
    <DataTable
      caption={texts.limitsCaption}
      rows={limits}
      rowKey={({ name }) => name}
      empty={texts.none}
      columns={[
        { id: 'name', title: texts.columns.limit, cell: limitName },
        {
          id: 'used',
          title: texts.columns.used,
          cell: (limit) =>
            limit.used !== null && (
              <span class="row nowrap">
                {limit.limit !== null && <Meter share={limit.used / limit.limit} />}
                {amountText(limit.used, limit.unit)}
              </span>
            ),
        },
        {
          id: 'limit',
          title: texts.columns.limit,
          isNumber: true,
          cell: ({ limit, unit }) => (limit === null ? texts.none : amountText(limit, unit)),
        },
        {
          id: 'source',
          title: texts.columns.source,
          cell: ({ isOwn }) => <span class={isOwn ? undefined : 'muted'}>{isOwn ? texts.ownLimit : texts.settingsLimit}</span>,
        },
        ...(onChange === undefined
          ? []
          : [
              {
                id: 'actions',
                title: texts.columns.actions,
                cell: (limit: LimitUse) => (
                  <button
                    type="button"
                    class="button button-small"
                    aria-label={`${texts.change}: ${limitName(limit)}`}
                    onClick={() => onChange(limit)}
                  >
                    {texts.change}
                  </button>
                ),
              },
            ]),
      ]}
    />
  )
}
