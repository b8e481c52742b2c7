import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import { me } from '../../session/session.ts'

export interface SandboxTabProps {
  readonly sandbox: SandboxDetail
}

/** Whether the session may change something: not with a read-only key. */
export function mayChange(): boolean {
  return me.value?.key?.isReadOnly !== true
}
