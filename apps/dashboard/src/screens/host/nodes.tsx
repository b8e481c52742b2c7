import type { Node } from '@sandyard/api-contract/nodes/node'
import { useCall } from '../../api/use-call.ts'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { Panel } from '../../parts/panel.tsx'
import { hostTexts as texts } from '../../texts/host-texts.ts'

/** The servers of the installation. */
export function Nodes() {
  const { value, failure, reload } = useCall('', async (signal) => (await wire<Node[]>('GET', '/nodes', { signal })).data)
  const set = (id: string, status: 'ready' | 'draining'): Promise<void> => wire('POST', `/nodes/${id}`, { body: { status } }).then(reload)
  return (
    <Panel title={texts.nodes} isFlush>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {(rows) => (
          <DataTable
            caption={texts.nodes}
            rows={rows}
            rowKey={({ id }) => id}
            empty={texts.nodesEmpty}
            columns={[
              { id: 'node', title: texts.columns.node, cell: ({ id }) => <code>{id}</code> },
              {
                id: 'status',
                title: texts.columns.status,
                cell: ({ status }) => <span class={`badge ${status === 'ready' ? 'badge-good' : 'badge-warn'}`}>{status}</span>,
              },
              { id: 'sandboxes', title: texts.columns.sandboxes, isNumber: true, cell: ({ sandboxCount }) => sandboxCount },
              { id: 'version', title: texts.columns.version, cell: ({ version }) => version },
              {
                id: 'actions',
                title: texts.columns.actions,
                cell: ({ id, status }) =>
                  status === 'draining' ? (
                    <ActionButton isSmall done={texts.readied} code={{ cli: `sandyard nodes ready ${id}` }} run={() => set(id, 'ready')}>
                      {texts.ready}
                    </ActionButton>
                  ) : (
                    <ActionButton
                      isSmall
                      done={texts.drained}
                      confirm={{ title: texts.drainTitle(id), text: texts.drainText, button: texts.drain }}
                      code={{ cli: `sandyard nodes drain ${id}` }}
                      run={() => set(id, 'draining')}
                    >
                      {texts.drain}
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </LoadedPart>
    </Panel>
  )
}
