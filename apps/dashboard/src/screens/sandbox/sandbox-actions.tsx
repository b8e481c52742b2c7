import type { SandboxForkResult } from '@sandyard/api-contract/sandboxes/fork'
import type { SnapshotInfo } from '@sandyard/api-contract/sandboxes/snapshot'
import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import { useLocation } from 'preact-iso/router'
import { ApiFailure } from '../../api/api-failure.ts'
import { wire } from '../../api/wire.ts'
import { paths } from '../../frame/paths.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { toast } from '../../parts/toasts.tsx'
import { me } from '../../session/session.ts'
import { sandboxTexts as texts } from '../../texts/sandbox-texts.ts'
import { extendCode, extendedTimeout, forkCode, killCode, pauseCode, resumeCode, snapshotCode } from './sandbox-code.ts'
import { mayChange } from './sandbox-tab.ts'

const EXTEND_SECONDS = 900
const FORK_SECONDS = 300

interface Props {
  readonly sandbox: SandboxDetail
  /** After each action, for a page without a live socket. */
  readonly onDone: () => void
}

export function SandboxActions({ sandbox, onDone }: Props) {
  const { route } = useLocation()
  const { sandboxId: id, state } = sandbox
  const server = me.value?.server
  const disabled = !mayChange()
  const act = (method: 'POST' | 'DELETE', path: string, body?: object) => async () => {
    await wire(method, `/sandboxes/${id}${path}`, body === undefined ? {} : { body })
    onDone()
  }
  const extend = async (): Promise<void> => {
    const timeout = extendedTimeout(sandbox.endsAt, EXTEND_SECONDS, server?.maxLifetimeSeconds ?? 86_400, Date.now())
    await wire('POST', `/sandboxes/${id}/timeout`, { body: { timeout } })
    onDone()
  }
  const resume = async (): Promise<void> => {
    await wire('POST', `/v2/sandboxes/${id}/connect`, { body: { timeout: FORK_SECONDS } })
    onDone()
  }
  const fork = async (): Promise<void> => {
    const { data } = await wire<SandboxForkResult[]>('POST', `/sandboxes/${id}/fork`, { body: { count: 1, timeout: FORK_SECONDS } })
    const made = data[0]
    if (made?.sandbox === undefined) throw new ApiFailure(made?.error?.code ?? 500, made?.error?.message ?? 'The fork was not started.')
    route(paths.sandbox(made.sandbox.sandboxID))
  }
  const snapshot = async (): Promise<void> => {
    const { data } = await wire<SnapshotInfo>('POST', `/sandboxes/${id}/snapshots`, { body: {} })
    toast('done', texts.snapshotted(data.names[0] ?? data.snapshotID))
    onDone()
  }
  if (state === 'ended') {
    return (
      <a class="button" href={`${paths.newSandbox}?template=${encodeURIComponent(sandbox.templateName)}`}>
        {texts.again}
      </a>
    )
  }
  return (
    <>
      {state === 'running' && (
        <>
          <ActionButton isRepeatable disabled={disabled} done={texts.extended} code={extendCode(id, EXTEND_SECONDS, server)} run={extend}>
            {texts.extend}
          </ActionButton>
          <ActionButton isRepeatable disabled={disabled} done={texts.paused} code={pauseCode(id, server)} run={act('POST', '/pause', {})}>
            {texts.pause}
          </ActionButton>
          <ActionButton disabled={disabled} code={snapshotCode(id, server)} run={snapshot}>
            {texts.snapshot}
          </ActionButton>
          <ActionButton
            disabled={disabled}
            done={texts.forked}
            code={forkCode(id, server)}
            confirm={{ title: texts.forkTitle, text: texts.forkText, button: texts.fork }}
            run={fork}
          >
            {texts.fork}
          </ActionButton>
        </>
      )}
      {state === 'paused' && (
        <ActionButton isRepeatable kind="primary" disabled={disabled} done={texts.resumed} code={resumeCode(id, server)} run={resume}>
          {texts.resume}
        </ActionButton>
      )}
      <ActionButton
        isRepeatable
        kind="danger"
        disabled={disabled}
        done={texts.killed}
        code={killCode(id, server)}
        confirm={{ title: texts.killTitle, text: texts.killText, button: texts.killButton }}
        run={act('DELETE', '')}
      >
        {texts.kill}
      </ActionButton>
    </>
  )
}
