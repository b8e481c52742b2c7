import type { SandboxTabProps } from '../sandbox-tab.ts'

export function NetworkTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
