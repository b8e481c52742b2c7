import type { ProcessView } from '@sandyard/dashboard-contract/processes'
import { useMemo } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { paths } from '../../../frame/paths.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { Ago } from '../../../parts/ago.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { Panel } from '../../../parts/panel.tsx'
import { sizeText } from '../../../parts/size-text.ts'
import { TableFrame } from '../../../parts/table-frame.tsx'
import '../../../styles/sandbox-panels.css'
import { processesTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { signalCode } from '../inside-code.ts'
import { NotRunning } from '../not-running.tsx'
import { mayChange, type SandboxTabProps } from '../sandbox-tab.ts'
import { treeOrder, type TreeItem } from '../tree-order.ts'
import { usePolled } from '../use-polled.ts'
import { Ports } from './ports.tsx'

const EVERY_MS = 5000

export function ProcessesTab({ sandbox }: SandboxTabProps) {
  const { sandboxId } = sandbox
  if (sandbox.state !== 'running' || !sandbox.isReachable) return <NotRunning sandbox={sandbox} />
  return (
    <div class="stack">
      <Processes sandboxId={sandboxId} />
      <Ports sandbox={sandbox} />
    </div>
  )
}

function Processes({ sandboxId }: { readonly sandboxId: string }) {
  const { value, failure, reload } = useCall(`processes ${sandboxId}`, (signal) =>
    call('GET /sandboxes/{sandboxId}/processes', { params: { sandboxId }, signal }),
  )
  usePolled(reload, EVERY_MS, true)
  const rows = useMemo(
    () =>
      treeOrder(
        value?.data ?? [],
        ({ pid }) => pid,
        ({ parentPid }) => parentPid,
      ),
    [value],
  )
  return (
    <Panel
      title={texts.title}
      isFlush
      actions={
        <button type="button" class="button button-small" onClick={reload}>
          {texts.reload}
        </button>
      }
    >
      <FailureNotice failure={failure} onRetry={reload} />
      {value !== undefined && rows.length === 0 && <p class="empty">{texts.noProcesses}</p>}
      {rows.length > 0 && (
        <TableFrame label={texts.caption}>
          <table class="table">
            <caption class="off-screen">{texts.caption}</caption>
            <thead>
              <tr>
                <th scope="col" class="number">
                  {texts.pid}
                </th>
                <th scope="col">{texts.command}</th>
                <th scope="col">{texts.user}</th>
                <th scope="col" class="number">
                  {texts.cpu}
                </th>
                <th scope="col" class="number">
                  {texts.memory}
                </th>
                <th scope="col">{texts.started}</th>
                <th scope="col">
                  <span class="off-screen">{texts.actions}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.item.pid} sandboxId={sandboxId} row={row} onDone={reload} />
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
      {value?.isCut === true && <p class="muted small">{texts.cut}</p>}
    </Panel>
  )
}

interface RowProps {
  readonly sandboxId: string
  readonly row: TreeItem<ProcessView>
  readonly onDone: () => void
}

function Row({ sandboxId, row: { item: process, level }, onDone }: RowProps) {
  const { pid, tag, command, args, user, cpuPct, memoryBytes, startedAt, terminalId, cwd } = process
  const send = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
    await call('POST /sandboxes/{sandboxId}/processes/{pid}/signal', { params: { sandboxId, pid }, body: { signal } })
    onDone()
  }
  const line = [command, ...args].join(' ')
  return (
    <tr>
      <td class="number mono">{pid}</td>
      <td class="process-command" title={cwd === null ? line : `${line}\n${cwd}`}>
        <span class="mono truncate" style={{ paddingInlineStart: `${level * 16}px` }}>
          {level > 0 && (
            <span class="muted" aria-hidden="true">
              └{' '}
            </span>
          )}
          {line}
        </span>
        {tag !== null && <span class="tag">{tag}</span>}
      </td>
      <td>{user ?? '–'}</td>
      <td class="number">{cpuPct === null ? '–' : `${cpuPct.toFixed(1)} %`}</td>
      <td class="number">{memoryBytes === null ? '–' : sizeText(memoryBytes)}</td>
      <td class="nowrap">{startedAt === null ? '–' : <Ago at={startedAt} />}</td>
      <td class="nowrap process-actions">
        {terminalId !== null && (
          <a class="button button-small" href={`${paths.sandbox(sandboxId, 'terminal')}?shell=${terminalId}`}>
            {texts.terminal}
          </a>
        )}
        {mayChange() && (
          <>
            <ActionButton
              isSmall
              label={`${texts.term} ${pid}`}
              done={texts.signalled(pid)}
              code={signalCode(sandboxId, pid, 'TERM')}
              run={send('SIGTERM')}
            >
              {texts.term}
            </ActionButton>
            <ActionButton
              isSmall
              kind="danger"
              label={`${texts.kill} ${pid}`}
              done={texts.signalled(pid)}
              confirm={{ title: texts.killTitle(pid), text: texts.killText, button: texts.kill }}
              code={signalCode(sandboxId, pid, 'KILL')}
              run={send('SIGKILL')}
            >
              {texts.kill}
            </ActionButton>
          </>
        )}
      </td>
    </tr>
  )
}
