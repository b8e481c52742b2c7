import type { TerminalView } from '@sandyard/dashboard-contract/processes'
import { MAX_SANDBOX_TERMINALS } from '@sandyard/dashboard-contract/limits'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { callDaemon } from '../relay/call-daemon.ts'
import type { ReachableSandbox } from '../relay/sandbox-daemon.ts'
import { TAG_PREFIX } from './shell-tag.ts'

/** The shells of dashboards that run in a sandbox, as its daemon names them. @throws AppError */
export async function listShells(
  { sandboxId, daemon, defaultUser, since }: ReachableSandbox,
  signal: AbortSignal,
): Promise<TerminalView[]> {
  const { processes } = await callDaemon(daemon, { signal }, ({ processes }, options) => processes.list({}, options))
  return processes
    .flatMap(({ pid, tag = '' }): TerminalView[] => {
      const terminalId = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : ''
      if (!isUuid(terminalId)) return []
      return [
        {
          terminalId,
          sandboxId,
          title: `${defaultUser}@${sandboxId.slice(0, 8)}`,
          user: defaultUser,
          pid,
          cols: 0,
          rows: 0,
          // The daemon does not tell more.
          startedAt: since.toISOString(),
          viewers: 0,
          recordingId: null,
          exit: null,
        },
      ]
    })
    .slice(0, MAX_SANDBOX_TERMINALS)
}
