import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { EgressDecision } from '@sandyard/dashboard-contract/network'
import { useLocation } from 'preact-iso/router'
import { useMemo, useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { wire } from '../../../api/wire.ts'
import { paths } from '../../../frame/paths.ts'
import { useTopic } from '../../../live/use-topic.ts'
import { copyAndSay } from '../../../parts/copy-and-say.ts'
import { DataTable } from '../../../parts/data-table.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { Panel } from '../../../parts/panel.tsx'
import { me } from '../../../session/session.ts'
import '../../../styles/sandbox-panels.css'
import { networkTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { curlText } from '../sandbox-code.ts'
import { mayChange, type SandboxTabProps } from '../sandbox-tab.ts'
import { decisionColumns } from './decision-columns.tsx'
import { Policy } from './policy.tsx'
import { PolicyDialog } from './policy-dialog.tsx'
import { isChangeable, learnedPolicy } from './policy-update.ts'

interface Decisions {
  readonly decisions: readonly EgressDecision[]
}
const MOST = 500

/** A patch replaces those with the same id; new ones come first. */
function withDecisions({ decisions }: Decisions, patch: Decisions): Decisions {
  const ids = new Set(patch.decisions.map(({ id }) => id))
  return { decisions: [...patch.decisions, ...decisions.filter(({ id }) => !ids.has(id))].slice(0, MOST) }
}

export function NetworkTab({ sandbox }: SandboxTabProps) {
  const { sandboxId, network, state } = sandbox
  const { query, route } = useLocation()
  const verdict = query['verdict'] === 'allow' || query['verdict'] === 'deny' ? query['verdict'] : undefined
  const loaded = useCall(`egress ${sandboxId}`, (signal) =>
    call('GET /sandboxes/{sandboxId}/egress', { params: { sandboxId }, query: { limit: 100 }, signal }),
  )
  const live = useTopic<'egress'>(`egress:${sandboxId}`, withDecisions)
  const [isEditing, setEditing] = useState(false)
  const all = live.value?.decisions ?? loaded.value?.data
  const rows = useMemo(
    () =>
      (all ?? [])
        .filter((decision) => verdict === undefined || decision.verdict === verdict)
        .toSorted((one, other) => other.at.localeCompare(one.at)),
    [all, verdict],
  )
  const canChange = mayChange() && state !== 'ended' && isChangeable(network)
  const put = (update: SandboxNetworkUpdate): Promise<unknown> => wire('PUT', `/sandboxes/${sandboxId}/network`, { body: update })
  const codeOf = (update: SandboxNetworkUpdate) => ({ curl: curlText(me.value?.server, 'PUT', `/sandboxes/${sandboxId}/network`, update) })

  const columns = decisionColumns({ network, canChange, isEnded: state === 'ended', codeOf, onAllow: put })

  return (
    <div class="stack">
      <Panel
        title={texts.policy}
        actions={
          canChange && (
            <button type="button" class="button button-small" onClick={() => setEditing(true)}>
              {texts.edit}
            </button>
          )
        }
      >
        <Policy network={network} />
      </Panel>
      <Panel
        title={texts.decisions}
        isFlush
        actions={
          <>
            <div class="button-group" role="group" aria-label={texts.verdict}>
              {([undefined, 'allow', 'deny'] as const).map((name) => (
                <button
                  key={name ?? 'all'}
                  type="button"
                  class="button button-small"
                  aria-pressed={name === verdict}
                  onClick={() => route(`${paths.sandbox(sandboxId, 'network')}${name === undefined ? '' : `?verdict=${name}`}`, true)}
                >
                  {name === undefined ? texts.all : texts.verdicts[name]}
                </button>
              ))}
            </div>
            <button
              type="button"
              class="button button-small"
              title={texts.learned}
              disabled={(all ?? []).length === 0}
              onClick={() => void copyAndSay(JSON.stringify(learnedPolicy(all ?? []), undefined, 2))}
            >
              {texts.learn}
            </button>
          </>
        }
      >
        {all === undefined && <FailureNotice failure={loaded.failure} onRetry={loaded.reload} />}
        {all !== undefined && (
          <DataTable caption={texts.caption} columns={columns} rows={rows} rowKey={({ id }) => id} empty={texts.empty} />
        )}
      </Panel>
      {isEditing && <PolicyDialog view={network} codeOf={codeOf} onSave={put} onClose={() => setEditing(false)} />}
    </div>
  )
}
