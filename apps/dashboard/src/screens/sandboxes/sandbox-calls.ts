import type { SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import { wire } from '../../api/wire.ts'
import { runAction } from '../../parts/run-action.ts'
import { me } from '../../session/me.ts'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { extendedTimeout, killCode } from '../sandbox/sandbox-code.ts'

export const EXTEND_SECONDS = 900
const RESUME_SECONDS = 300

/** The actions of one row. Each says how it ended; the row itself changes by the live list. */
export function pauseSandbox({ sandboxId: id }: SandboxRow): Promise<boolean> {
  return runAction({
    label: `${texts.pause} ${id}`,
    done: texts.paused(id),
    isRepeatable: true,
    run: () => wire('POST', `/sandboxes/${id}/pause`, { body: {} }),
  })
}

export function resumeSandbox({ sandboxId: id }: SandboxRow): Promise<boolean> {
  return runAction({
    label: `${texts.resume} ${id}`,
    done: texts.resumed(id),
    isRepeatable: true,
    run: () => wire('POST', `/v2/sandboxes/${id}/connect`, { body: { timeout: RESUME_SECONDS } }),
  })
}

export function extendSandbox(row: SandboxRow): Promise<boolean> {
  const { sandboxId: id } = row
  // Counted once, so that a repetition does not add another 15 minutes.
  const endsAtMs = Date.now() + timeoutOf(row) * 1000
  return runAction({
    label: `${texts.extend} ${id}`,
    done: texts.extended(id),
    isRepeatable: true,
    run: () => wire('POST', `/sandboxes/${id}/timeout`, { body: { timeout: Math.max(1, Math.ceil((endsAtMs - Date.now()) / 1000)) } }),
  })
}

export function killSandbox({ sandboxId: id }: SandboxRow): Promise<boolean> {
  return runAction({
    label: `${texts.kill} ${id}`,
    done: texts.killed(id),
    isRepeatable: true,
    confirm: { title: texts.killTitle(id), text: texts.killText, button: texts.kill, code: killCode(id, me.value?.server) },
    run: () => wire('DELETE', `/sandboxes/${id}`),
  })
}

function timeoutOf({ endsAt }: SandboxRow): number {
  return extendedTimeout(endsAt, EXTEND_SECONDS, me.value?.server.maxLifetimeSeconds ?? 86_400, Date.now())
}
