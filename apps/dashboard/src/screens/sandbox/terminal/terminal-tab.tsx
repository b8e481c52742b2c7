import type { TerminalView } from '@sandyard/dashboard-contract/processes'
import { useLocation } from 'preact-iso/router'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { paths } from '../../../frame/paths.ts'
import { liveState } from '../../../live/live-client.ts'
import { useTopic } from '../../../live/use-topic.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { newUuid } from '../../../parts/new-uuid.ts'
import '../../../styles/sandbox-terminal.css'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'
import { NotRunning } from '../not-running.tsx'
import { mayChange, type SandboxTabProps } from '../sandbox-tab.ts'
import { NewShellForm, type NewShell } from './new-shell-form.tsx'
import { shellTabs, type ShellTab } from './shell-state.ts'
import { Shell } from './shell.tsx'
import '../../../styles/details.css'

type Kept = { readonly data: readonly TerminalView[] }
const replaceAll = (_: Kept, kept: Kept): Kept => kept

export function TerminalTab({ sandbox }: SandboxTabProps) {
  const { sandboxId, state, isReachable } = sandbox
  const { query, route } = useLocation()
  const loaded = useCall(`terminals ${sandboxId}`, (signal) =>
    call('GET /sandboxes/{sandboxId}/terminals', { params: { sandboxId }, signal }),
  )
  const live = useTopic<'terminals'>(`terminals:${sandboxId}`, replaceAll)
  const [opening, setOpening] = useState<readonly ShellTab[]>([])
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set())
  const [isAsking, setAsking] = useState(query['cwd'] !== undefined)

  const kept = (live.value ?? loaded.value)?.data ?? []
  const shells = shellTabs(kept, opening, closed)
  const chosen = query['shell']
  const active = shells.find(({ terminalId }) => terminalId === chosen) ?? shells[0]
  const isRunning = state === 'running' && isReachable
  const mounted = new Set([...visited, ...(active === undefined ? [] : [active.terminalId])])

  const show = (terminalId: string): void => {
    setVisited(new Set([...mounted, terminalId]))
    route(`${paths.sandbox(sandboxId, 'terminal')}?shell=${terminalId}`, true)
  }
  const open = ({ user, cwd, record }: NewShell): void => {
    const terminalId = newUuid()
    const create = { sandboxId, ...(user !== '' && { user }), ...(cwd !== '' && { cwd }), ...(record && { record }) }
    setOpening((former) => [
      ...former,
      { terminalId, title: user === '' ? `${shells.length + 1}` : `${shells.length + 1} · ${user}`, create },
    ])
    setAsking(false)
    show(terminalId)
  }

  // Asked for by the form of a new sandbox; a plain look at the tab starts nothing. The flag leaves the address with the first shell.
  useEffect(() => {
    if (query['open'] === 'shell' && isRunning && shells.length === 0) open({ user: '', cwd: '', record: false })
  }, [query['open'], isRunning])

  if (shells.length === 0) {
    if (!isRunning) return <NotRunning sandbox={sandbox} />
    return (
      <div class="shell-start">
        <p>{texts.none}</p>
        <NewShellForm sandboxId={sandboxId} folder={query['cwd']} onOpen={open} />
        <p class="muted">{texts.explain}</p>
        <NoSocket />
      </div>
    )
  }
  return (
    <div class="shells">
      <div class="shell-tabs" role="group" aria-label={texts.shells}>
        {shells.map(({ terminalId, title }) => (
          <button
            key={terminalId}
            type="button"
            class="shell-tab"
            aria-pressed={terminalId === active?.terminalId}
            onClick={() => show(terminalId)}
          >
            {title}
          </button>
        ))}
        {isRunning && mayChange() && (
          <button type="button" class="button button-small" onClick={() => setAsking(true)}>
            {texts.new}
          </button>
        )}
      </div>
      <NoSocket />
      {shells
        .filter(({ terminalId }) => mounted.has(terminalId))
        .map((shell) => (
          <Shell
            key={shell.terminalId}
            sandboxId={sandboxId}
            shell={shell}
            isShown={shell.terminalId === active?.terminalId}
            canType={isRunning && mayChange()}
            pid={kept.find(({ terminalId }) => terminalId === shell.terminalId)?.pid ?? null}
            onClose={() => setClosed(new Set([...closed, shell.terminalId]))}
          />
        ))}
      {isAsking && (
        <Dialog title={texts.newTitle} onClose={() => setAsking(false)}>
          <NewShellForm sandboxId={sandboxId} folder={query['cwd']} onOpen={open} />
        </Dialog>
      )}
    </div>
  )
}

function NoSocket() {
  if (liveState.value !== 'waiting') return null
  return (
    <p class="notice" role="status">
      {texts.noSocket}
    </p>
  )
}
